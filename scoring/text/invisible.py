"""Characters that nobody sees: they can spell whole instructions, split a word, or make two texts look alike.

They are Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode 16, which reserves whole
blocks for what is to come), characters that are drawn as a blank or only lay out others, and controls but tab
and line ends. Joiners and variation selectors are among them: without these a text reads a little worse in
some scripts, and says the same. White space is not: it separates words, and readers of a text see that.
"""

from __future__ import annotations

import re
from typing import Final

_DEFAULT_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# The empty Braille pattern and note head, the Khitan filler, marks of annotations and of hieroglyphs' places.
_BLANK = "\u2800\U0001d159\U00016fe4\ufff9-\ufffb\U00013430-\U0001343f"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"

#: One such character; texts are searched for it, or rid of all.
INVISIBLE: Final = re.compile(f"[{_CONTROLS}{_DEFAULT_IGNORABLE}{_BLANK}]")
