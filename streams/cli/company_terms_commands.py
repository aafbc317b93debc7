"""`truthgate company-terms`: build and show the company's own terms."""

from pathlib import Path
from typing import Annotated

import typer

from scoring.company_terms import MIN_DOCUMENTS, CompanyTermsError, load_terms, save_terms
from scoring.company_terms.term_extraction import GeneralWordFrequencies, extract_terms
from streams.cli.command_files import atomic_write, count_lines
from streams.cli.command_output import (
    CommandErrors,
    CommandFailed,
    UsageError,
    plural,
    printable,
    progress_bar,
    say,
    write_json,
    write_line,
)
from streams.cli.common_options import AsJson, existing_option
from streams.cli.document_sources import DocumentSource, PageLanguages
from streams.documents.company_terms import count_file_documents

app = typer.Typer(help="Build and show the company's own terms, from its help documents.")


@app.command("build")
def build(
    documents: Annotated[
        list[Path],
        existing_option("JSONL of documents, or a folder of pages; may be repeated.", folders=True),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, metavar="FILE", help="The file of terms (JSON).")
    ],
    language: PageLanguages = None,
    least_documents: Annotated[
        int, typer.Option(min=1, metavar="N", help="Skip languages with fewer documents.")
    ] = MIN_DOCUMENTS,
) -> None:
    """Extract the company's own terms: words much more frequent in its documents than in general language.

    A worker extracts them from the documents topic by itself; a file is for scoring without a topic, or to
    fix the terms (`TRUTHGATE_COMPANY_TERMS__FILE`). The same documents give the same file. A bad line or
    file is named on standard error, the others are used, and the exit code is 1.

    Example: `truthgate company-terms build --documents help.jsonl --output company-terms.json`
    """
    sources = [DocumentSource(path, language or ()) for path in documents]
    for path in documents:
        if output.exists() and output.samefile(path):
            raise UsageError(f"--output {output} would overwrite the documents")
    errors, general = CommandErrors(), GeneralWordFrequencies()
    with progress_bar("reading", count_lines(*documents)) as bar:
        located = (each for source in sources for each in source.read(errors.of(source.path), bar))
        counts = count_file_documents(document for _, document in located).languages
    terms = extract_terms(counts, general, least_documents)
    for code, counted in sorted(counts.items()):
        number = plural(counted.documents, "document")
        if code in terms.languages:
            say(f"{code}: {plural(len(terms.languages[code].counts), 'term')} from {number}")
        elif counted.documents < least_documents:
            say(f"{code}: skipped, {number} of at least {least_documents}")
        elif not general.has_language(code):
            say(f"{code}: skipped, there is no general word list of this language to compare with")
        else:
            say(f"{code}: no terms in {number}")
    if not terms.languages:
        raise CommandFailed(f"no terms found, so {output} is not written")
    with atomic_write(output) as partial:
        save_terms(terms, partial)
    raise typer.Exit(errors.exit_code())


@app.command("show")
def show(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="A file that `build` wrote.")
    ],
    language: Annotated[str | None, typer.Option(metavar="CODE", help="Only this language, e.g. nl.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the company's own terms, the most frequent first: language, word, count.

    Example: `truthgate company-terms show company-terms.json --language nl`
    """
    try:
        terms = load_terms(file)
    except CompanyTermsError as error:
        raise CommandFailed(str(error)) from None
    if language and language not in terms.languages:
        raise CommandFailed(f"{file} has no terms of language {language}")
    say(f"version {terms.version}")
    for code in [language] if language else sorted(terms.languages):
        found = terms.languages[code]
        say(f"{code}: {plural(len(found.counts), 'term')} from {plural(found.documents, 'document')}")
        for word, count in sorted(found.counts.items(), key=lambda item: (-item[1], item[0])):
            if as_json:
                write_json({"language": code, "word": word, "count": count})
            else:
                write_line(f"{code}\t{printable(word)}\t{count}")
