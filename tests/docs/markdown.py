"""The parts of a Markdown page that tests look at."""

import dataclasses
import re

_FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_INLINE_CODE = re.compile(r"`[^`\n]*`")


@dataclasses.dataclass
class Block:
    language: str
    text: str
    line: int


def blocks(text):
    """The fenced blocks."""
    return [Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)
            for match in _FENCE.finditer(text)]


def examples(text):
    """{name: text} of the fenced blocks behind a comment `<!-- example: name -->`."""
    found = _EXAMPLE.findall(text)
    names = [name for name, _ in found]
    assert len(names) == len(set(names)), f"an example stands twice: {names}"
    return dict(found)


def with_examples(text, wanted):
    """The page with the examples replaced."""
    def replace(match):
        head = match[0][:match.start(2) - match.start(0)]
        return head + wanted.get(match[1], match[2]) + "```"
    return _EXAMPLE.sub(replace, text)


def links(text):
    """Targets of links, outside of code."""
    return _LINK.findall(_INLINE_CODE.sub("", _FENCE.sub("", text)))


def anchors(text):
    """What #fragments may name: headings as repository hosts render them, and <a id="">."""
    prose = _FENCE.sub("", text)
    found = set(re.findall(r'<a id="([^"]+)"', prose))
    for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def table(text, heading):
    """Rows (lists of cells) of the first table under a heading, without its head."""
    section = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", text,
                        re.MULTILINE | re.DOTALL)
    assert section, f"there is no heading {heading!r}"
    rows = [line for line in section[1].splitlines() if line.startswith("|")]
    assert len(rows) > 2, f"there is no table under {heading!r}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]
