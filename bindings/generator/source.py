"""A header as a list of tokens. Comments and preprocessor lines are understood or refused here."""
import functools
import re
from typing import NamedTuple


class HeaderError(Exception):
    """A header does not follow the grammar; the text begins with file and line."""


class Token(NamedTuple):
    kind: str  # word, number, mark, doc (/** */ before), after (/**< */ behind), define, end
    text: str
    line: int


PIECES = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<directive>^[ ]*\#(?:[^\n]*\\\n)*[^\n]*)"
    r"|(?P<string>\"[^\"\n]*\")|(?P<word>[A-Za-z_]\w*)|(?P<number>-?\d\w*)"
    r"|(?P<mark>\.\.\.|[(){};,=*\[\]])|(?P<blank>\s+)|(?P<other>.)", re.S | re.M)
GUARD = re.compile(r"#ifndef (VARVE_\w+_H)$")
INCLUDE = re.compile(r"#include (<std(?:def|int)\.h>|\"varve/\w+\.h\")$")
EMPTY_OR_ATTRIBUTE = re.compile(r"#define VARVE_[A-Z_]+( __attribute__\(\(.*\)\))?$")
CONSTANT = re.compile(r"#define (VARVE_[A-Z0-9_]+) (-?\d+|SIZE_MAX)$")
CPLUSPLUS_BLOCKS = (["extern", '"C"', "{"], ["}"])


def clean_comment(text):
    """What a comment says, without its stars."""
    body = re.sub(r"^/\*\*?<?|\*/$", "", text)
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")]
    return "\n".join(lines).strip()


@functools.lru_cache(maxsize=64)  # where one header of many is changed at a time
def tokens(text, where):
    """The tokens of a header; `where` is its name in refusals."""
    return tuple(_Reader(where).read(text))


class _Reader:
    def __init__(self, where):
        self.where = where
        self.out = []
        self.conditions = []  # of #if: guard, cplusplus or attributes; what is open
        self.cplusplus = None  # tokens inside #ifdef __cplusplus
        self.line = 1

    def refuse(self, problem):
        raise HeaderError(f"{self.where}:{self.line}: {problem}")

    def read(self, text):
        for match in PIECES.finditer(text):
            kind, piece = match.lastgroup, match.group()
            self.piece(kind, piece)
            self.line += piece.count("\n")
        if self.conditions:
            self.refuse("an #if without its #endif")
        self.out.append(Token("end", "", self.line))
        return self.out

    def piece(self, kind, piece):
        if kind == "comment":
            self.comment(piece)
        elif kind == "directive":
            self.directive(piece)
        elif kind == "blank":
            return
        elif self.cplusplus is not None:
            self.cplusplus.append(piece)
        elif kind in ("word", "number", "mark"):
            if self.conditions not in ([], ["guard"]):
                self.refuse(f"`{piece}`: a declaration under a condition")
            self.out.append(Token(kind, piece, self.line))
        else:
            self.refuse(f"`{piece}` has no place in a header")

    def comment(self, piece):
        if piece.startswith("/**<"):
            self.out.append(Token("after", clean_comment(piece), self.line))
        elif piece.startswith("/**"):
            self.out.append(Token("doc", clean_comment(piece), self.line))

    def directive(self, piece):
        behind = re.search(r"/\*\*<.*?\*/", piece)
        line = " ".join(re.sub(r"/\*.*?\*/", "", piece.replace("\\\n", " ")).split())
        word = re.match(r"# ?(\w*)", line)[1]
        if word in ("ifndef", "if", "ifdef"):
            self.condition(line)
        elif word == "else" and self.conditions[-1:] == ["attributes"]:
            pass
        elif word == "endif" and self.conditions:
            self.end_condition()
        elif word == "define":
            self.define(line, clean_comment(behind.group()) if behind else "")
        elif not (INCLUDE.match(line) and self.conditions in ([], ["guard"])):
            self.refuse(f"a preprocessor line outside the grammar: {line}")

    def condition(self, line):
        if GUARD.match(line) and not self.conditions:
            self.conditions.append("guard")
        elif line == "#ifdef __cplusplus" and self.cplusplus is None:
            self.conditions.append("cplusplus")
            self.cplusplus = []
        elif line == "#if defined(__GNUC__) || defined(__clang__)":
            self.conditions.append("attributes")
        else:
            self.refuse(f"a condition outside the grammar: {line}")

    def end_condition(self):
        if self.conditions.pop() == "cplusplus":
            if self.cplusplus not in CPLUSPLUS_BLOCKS:
                self.refuse('only `extern "C" {` and its `}` may stand under __cplusplus')
            self.cplusplus = None

    def define(self, line, behind):
        constant = CONSTANT.match(line)
        if constant and self.conditions in ([], ["guard"]):
            self.out.append(Token("define", f"{constant[1]} {constant[2]}", self.line))
            if behind:
                self.out.append(Token("after", behind, self.line))
        elif not EMPTY_OR_ATTRIBUTE.match(line):
            self.refuse(f"a #define outside the grammar: {line}")
