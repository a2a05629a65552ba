"""The tokens of a header as declarations. Whatever is not in the grammar is refused."""
from dataclasses import dataclass, field
import re

from generator.source import HeaderError, tokens

INTEGERS = {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
            "uint64_t", "size_t"}
SCALARS = INTEGERS | {"double", "float"}
BASE_TYPES = SCALARS | {"char", "void"}
ANNOTATIONS = {"VARVE_NULLABLE", "VARVE_OUT", "VARVE_OUT_OWNED", "VARVE_OUT_BORROWED"}
TYPE_NAME = re.compile(r"varve_[a-z0-9_]+_(t|fn)")
FUNCTION_NAME = re.compile(r"varve_[a-z0-9_]*[a-z0-9]")
CONSTANT_NAME = re.compile(r"VARVE_[A-Z0-9_]+")
PARAMETER_NAME = re.compile(r"[a-z][a-z0-9_]*")
SIZE_MAX = 2**64 - 1


@dataclass
class CType:
    """`const char **` is CType("char", 2, True)."""
    base: str
    stars: int = 0
    const: bool = False

    def __str__(self):
        return f"{'const ' if self.const else ''}{self.base}{' ' if self.stars else ''}" \
            + "*" * self.stars


@dataclass
class Parameter:
    name: str
    type: CType
    annotations: set
    place: str


@dataclass
class Declaration:
    """kind: handle, integer, struct, callback, constant or function."""
    kind: str
    name: str
    place: str
    header: str
    doc: str = ""
    type: object = None  # a result, what an integer type is, or the type that a constant is of
    value: int = 0
    params: list = field(default_factory=list)
    must_use: bool = False


def parse(text, where, header, known):
    """Declarations of one header. `known` maps the type names seen so far to their kinds."""
    return _Parser(tokens(text, where), where, header, known).run()


class _Parser:
    def __init__(self, stream, where, header, known):
        self.stream, self.where, self.header, self.known = stream, where, header, known
        self.at, self.out, self.doc = 0, [], ""
        self.integer_before = None  # the integer typedef that an enum right behind belongs to

    # -- tokens

    @property
    def next(self):
        return self.stream[self.at]

    def refuse(self, problem, line=None):
        raise HeaderError(f"{self.where}:{line or self.next.line}: {problem}")

    def take(self, wanted=None):
        """The next token but for comments; `wanted` is what it has to be."""
        while self.next.kind in ("doc", "after"):
            self.at += 1
        token = self.next
        if token.kind == "end":
            self.refuse("a declaration without end")
        if wanted and token.text != wanted:
            self.refuse(f"`{token.text}` where `{wanted}` was expected")
        self.at += 1
        return token

    def peek(self):
        at = self.at
        while self.stream[at].kind in ("doc", "after"):
            at += 1
        return self.stream[at].text

    def name(self, pattern, what):
        token = self.take()
        if token.kind != "word" or not pattern.fullmatch(token.text):
            self.refuse(f"`{token.text}` is not a valid name of {what}", token.line)
        return token.text

    # -- declarations

    def run(self):
        while self.next.kind != "end":
            token = self.next
            if token.kind == "doc":
                self.doc = token.text
                self.at += 1
            elif token.kind == "after":
                self.at += 1
            elif token.kind == "define":
                self.define()
            elif token.text in ("typedef", "enum", "VARVE_API"):
                first = len(self.out)
                {"typedef": self.typedef, "enum": self.enum, "VARVE_API": self.function}[
                    token.text]()
                self.integer_before = self.out[first] if len(self.out) == first + 1 and \
                    self.out[first].kind == "integer" else None
                self.doc = ""
            else:
                self.refuse(f"`{token.text}` does not begin a typedef, enum or VARVE_API function")
        return self.out

    def add(self, kind, name, line, **more):
        place = f"{self.where}:{line}"
        more.setdefault("doc", self.doc)
        self.out.append(Declaration(kind, name, place, self.header, **more))
        if kind not in ("function", "constant"):
            if name in self.known:
                self.refuse(f"{name} is already declared", line)
            self.known[name] = kind

    def define(self):
        token = self.take()
        name, value = token.text.split()
        doc = self.doc
        if self.next.kind == "after":
            doc = self.next.text
            self.at += 1
        size = value == "SIZE_MAX"
        self.add("constant", name, token.line, doc=doc, value=SIZE_MAX if size else int(value),
                 type="size_t" if size else None)
        if not (self.next.kind == "define" and self.next.line == token.line + 1):
            self.doc = ""

    def typedef(self):
        line = self.take("typedef").line
        if self.peek() == "struct":
            self.handle_or_struct(line)
            return
        result = self.type()
        if self.peek() != "(":
            name = self.name(TYPE_NAME, "a type")
            if str(result) not in INTEGERS:
                self.refuse(f"{name}: a typedef of `{result}`, which is not an integer of fixed "
                            "width", line)
            self.add("integer", name, line, type=str(result))
        else:
            self.take("(")
            self.take("*")
            name = self.name(TYPE_NAME, "a callback type")
            self.take(")")
            params = self.params()
            self.check_by_value(result, line)
            self.add("callback", name, line, type=str(result), params=params)
        self.take(";")

    def handle_or_struct(self, line):
        self.take("struct")
        tag = self.take().text
        fields = self.fields() if self.peek() == "{" else None
        name = self.name(TYPE_NAME, "a type")
        if name != tag + "_t":
            self.refuse(f"struct {tag} is called {name}, not {tag}_t", line)
        self.take(";")
        if fields is None:
            self.add("handle", name, line)
        else:
            self.add("struct", name, line, params=fields)

    def fields(self):
        self.take("{")
        found = []
        while self.peek() != "}":
            line, kind = self.next.line, self.type()
            self.check_by_value(kind, line)
            found.append(Parameter(self.name(PARAMETER_NAME, "a member"), kind, set(),
                                   f"{self.where}:{line}"))
            self.take(";")
        self.take("}")
        return found

    def enum(self):
        owner = self.integer_before.name if self.integer_before else None
        self.take("enum")
        self.take("{")
        while self.peek() != "}":
            line = self.next.line
            name = self.name(CONSTANT_NAME, "a constant")
            line = self.stream[self.at - 1].line or line
            self.take("=")
            number = self.take()
            if number.kind != "number" or not re.fullmatch(r"-?\d+", number.text):
                self.refuse(f"{name}: `{number.text}` is not a decimal number", number.line)
            if self.peek() != "}":
                self.take_comma(name)
            doc = self.next.text if self.next.kind == "after" else ""
            self.add("constant", name, line, doc=doc, value=int(number.text), type=owner)
        self.take("}")
        self.take(";")

    def take_comma(self, name):
        token = self.take()
        if token.text != ",":
            self.refuse(f"{name}: `{token.text}` where `,` was expected", token.line)

    def function(self):
        line = self.take("VARVE_API").line
        must_use = self.peek() == "VARVE_MUST_USE"
        if must_use:
            self.take()
        result = self.type()
        name = self.name(FUNCTION_NAME, "a function")
        self.check_by_value(result, line)
        params = self.params()
        if self.peek() not in (";", ""):
            self.refuse(f"{name}: `{self.peek()}` behind the parameters")
        self.take(";")
        self.add("function", name, line, type=str(result), params=params, must_use=must_use)

    # -- types and parameters

    def type(self):
        const = self.peek() == "const"
        if const:
            self.take()
        token = self.take()
        if token.text not in BASE_TYPES and token.text not in self.known:
            self.refuse(f"`{token.text}` is not a known type", token.line)
        stars = 0
        while self.peek() == "*":
            self.take()
            stars += 1
        return CType(token.text, stars, const)

    def check_by_value(self, kind, line):
        """Handles, structs, void and char exist behind a pointer only."""
        by_value = self.known.get(kind.base) in ("handle", "struct") or kind.base == "char"
        if by_value and kind.stars == 0:
            self.refuse(f"`{kind}` by value", line)
        if kind.const and kind.stars == 0:
            self.refuse(f"`{kind}`: const without a pointer means nothing", line)

    def params(self):
        self.take("(")
        if self.peek() == "void" and self.stream[self.at + 1].text == ")":
            self.take()
            self.take(")")
            return []
        found = []
        while True:
            found.append(self.param())
            token = self.take()
            if token.text == ")":
                return found
            if token.text != ",":
                self.refuse(f"`{token.text}` in the parameters", token.line)

    def param(self):
        line, kind = self.next.line, self.type()
        line = self.stream[self.at - 1].line or line
        name = self.name(PARAMETER_NAME, "a parameter")
        annotations = set()
        while self.peek() in ANNOTATIONS:
            token = self.take()
            if token.text in annotations:
                self.refuse(f"{name}: {token.text} twice", token.line)
            annotations.add(token.text)
        self.check_by_value(kind, line)
        if kind.base == "void" and kind.stars == 0:
            self.refuse(f"{name}: a parameter of type void", line)
        return Parameter(name, kind, annotations, f"{self.where}:{line}")
