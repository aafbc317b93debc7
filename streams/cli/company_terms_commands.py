"""``truthgate company-terms``: the company's own words, built from its documents, and shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from scoring.company_terms import MIN_DOCUMENTS, CompanyTerms, CompanyTermsError, load_terms, save_terms
from scoring.company_terms.term_extraction import GeneralWordFrequencies, LanguageCounts
from scoring.company_terms.term_extraction import extract_terms as build_terms
from streams.cli.command_files import InputErrors, atomic_write, count_lines
from streams.cli.command_output import (
    CommandFailed,
    UsageError,
    json_line,
    plural,
    printable,
    progress_bar,
    say,
    write_line,
)
from streams.cli.common_options import AsJson
from streams.cli.document_sources import DocumentSource, PageLanguages
from streams.documents.company_terms import count_file_documents

app = typer.Typer(help="The words of the company's own language, from its help documents.")


@app.command("build")
def build(
    documents: Annotated[
        list[Path],
        typer.Option(
            exists=True,
            metavar="FILE|FOLDER",
            help="JSONL of documents, or a folder of pages; may be repeated.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", dir_okay=False, metavar="FILE", help="Where the words go (JSON)."),
    ],
    language: PageLanguages = None,
    least_documents: Annotated[
        int, typer.Option(min=1, metavar="N", help="A language with fewer documents is left out.")
    ] = MIN_DOCUMENTS,
) -> None:
    """Find the company's own words: those much more frequent in its help than in the language at large.

    A worker builds them by itself from the documents topic; a file is for scoring without one, or to
    keep the words fixed (`TRUTHGATE_COMPANY_TERMS__FILE`). The same documents give the same file. A
    bad line or file is named on standard error, the rest is used, and the exit code is 1.

    Example: `truthgate company-terms build --documents help.jsonl --output company-terms.json`
    """
    given = [DocumentSource(source, language or ()) for source in documents]
    for source in documents:
        if output.exists() and output.samefile(source):
            raise UsageError(f"--output {output} would overwrite the documents")
    complaints, general = [InputErrors(str(source)) for source in documents], GeneralWordFrequencies()
    with progress_bar("reading", count_lines(*documents)) as bar:
        read = (each.read(about, bar) for each, about in zip(given, complaints, strict=True))
        counts = count_file_documents(document for placed in read for _, document in placed)
    terms = build_terms(counts.languages, general, least_documents)
    _tell(terms, counts.languages, general, least_documents)
    if not terms.languages:
        raise CommandFailed(f"no words found, so {output} is not written")
    with atomic_write(output) as partial:
        save_terms(terms, partial)
    raise typer.Exit(max(each.exit_code for each in complaints))


@app.command("show")
def show(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="What `build` wrote.")
    ],
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only this language, such as nl.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the company's own words, the most frequent first: language, word, how often.

    Example: `truthgate company-terms show company-terms.json --language nl`
    """
    try:
        terms = load_terms(file)
    except CompanyTermsError as error:
        raise CommandFailed(str(error)) from None
    if language and language not in terms.languages:
        raise CommandFailed(f"{file} has no words of language {language}")
    say(f"version {terms.version}")
    for code in [language] if language else sorted(terms.languages):
        _show(code, terms, as_json)


def _show(code: str, terms: CompanyTerms, as_json: bool) -> None:
    found = terms.languages[code]
    say(f"{code}: {plural(len(found.counts), 'word')} from {plural(found.documents, 'document')}")
    for word, times in sorted(found.counts.items(), key=lambda item: (-item[1], item[0])):
        if as_json:
            write_line(json_line({"language": code, "word": word, "count": times}))
        else:
            write_line(f"{code}\t{printable(word)}\t{times}")


def _tell(
    terms: CompanyTerms, counts: Mapping[str, LanguageCounts], general: GeneralWordFrequencies, least: int
) -> None:
    for code, counted in sorted(counts.items()):
        documents = plural(counted.documents, "document")
        if code in terms.languages:
            say(f"{code}: {plural(len(terms.languages[code].counts), 'word')} from {documents}")
        elif counted.documents < least:
            say(f"{code}: left out, {documents} of at least {least}")
        elif not general.has_language(code):
            say(f"{code}: left out, there is no word list of the language at large to compare with")
        else:
            say(f"{code}: no word stands out in {documents}")
