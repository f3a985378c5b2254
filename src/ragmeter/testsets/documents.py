"""Documents to ask about: folders of texts and pages, or chunks of the user's own, whose ids stay what they are."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Generic, NamedTuple, TypeVar
from unicodedata import normalize
from zlib import crc32

import msgspec

from ragmeter.errors import InputError, MissingExtraError, UsageError
from ragmeter.hints import option
from ragmeter.io.cells import as_text
from ragmeter.io.formats import beir
from ragmeter.io.formats.datasets import files_of, is_glob
from ragmeter.io.readers import READERS, format_of
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_file
from ragmeter.metrics.normalize import language_code
from ragmeter.naming import Signature
from ragmeter.table import Row
from ragmeter.testsets.cutting import Paragraph, paragraphs_of, passages_of
from ragmeter.testsets.html import text_of_page
from ragmeter.testsets.languages import language_of
from ragmeter.testsets.questions import Passage

#: What the columns of a file of chunks may be called, the usual name first.
_TITLES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "chunk_id", "passage_id", "doc_id", "docid", "document_id", "qid"),
    "text": ("text", "content", "contents", "chunk", "passage", "body", "page_content"),
    "title": ("title", "heading", "section"),
    "source": ("source", "document", "doc", "url", "file", "path"),
    "language": ("language", "lang"),
}
_TEXTS, _PAGES, _PDF = frozenset({".txt", ".md", ".markdown", ".rst", ".text"}), frozenset({".html", ".htm"}), ".pdf"
UNKNOWN_FORMAT = "unknown_format"
#: Why a document has no text, in words for an error.
_NO_TEXT = {
    "not_text": "this is no text in UTF-8",
    "pdf_locked": "this PDF is locked with a password",
    "pdf_damaged": "this PDF is damaged",
    "pdf_without_text": "this PDF has no text, only pictures: have a program for OCR read it first",
}
#: Letters that a PDF has joined, as a question's evidence spells them.
_LIGATURES = {ord(sign): normalize("NFKC", sign) for sign in "ﬀﬁﬂﬃﬄﬅﬆ"}
_KINDS = "text, Markdown, HTML, PDF; or chunks of your own in JSONL, JSON, Parquet, CSV or TSV"
#: A paragraph that so many documents have, and so large a share of all, is none that belongs to one of them.
_REPEATED, _REPEATED_SHARE = 3, 0.1
#: So many bytes of what is kept are read together.
_BLOCK = 1 << 20
_Item = TypeVar("_Item")


class _Text(NamedTuple):
    """The name of a document, and its text as Markdown."""

    name: str
    text: str


@dataclass
class Documents:
    """The passages of all sources. They are read once, and kept on the disk.

    `left_out` counts files that are no documents, and the paragraphs that many documents have in common.
    """

    files: Sequence[Path]
    columns: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    _passages: Iterable[Passage] | None = None

    @classmethod
    def open(
        cls, places: Sequence[str | Path], *, columns: Mapping[str, str] | None = None, language: str | None = None
    ) -> Documents:
        """The documents at these paths, patterns and folders; an error if there is none that can be read."""
        if unknown := sorted((columns or {}).keys() - _TITLES.keys()):
            raise UsageError(f"a chunk has no column {unknown[0]}", hint=f"there are {', '.join(_TITLES)}")
        left_out: Counter[str] = Counter()
        files = [file for place in places for file in _files(Path(place), left_out)]
        if not files:
            raise InputError("there is no document here", file=str(places[0]), hint=f"documents are {_KINDS}")
        return cls(list(dict.fromkeys(files)), columns or {}, language, left_out)

    def signature(self) -> Signature:
        """What identifies the documents: how many files and bytes they are, and a hash of their contents."""
        digests, size = [], 0
        for path in self.files:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").digest())
            size += path.stat().st_size
        digest = hashlib.sha256(b"".join(sorted(digests))).hexdigest()
        return {"file": str(self.files[0]), "files": len(self.files), "bytes": size, "sha256": digest}

    def passages(self) -> Iterator[Passage]:
        """All passages; the first time, everything is read: an error if an id stands twice, or a file is no text."""
        if self._passages is None:
            names = _names(self.files)
            texts = _Kept(
                (_Text(names[path], self._text(path)) for path in self.files if not _is_of_chunks(path)), _Text
            )
            repeated = self._of_many_documents(texts)
            cut = (passage for name, text in texts for passage in self._cut(text, name, repeated))
            self._passages = _Kept(chain(cut, self._chunks()), Passage)
        return iter(self._passages)

    def _text(self, path: Path) -> str:
        text, cause = _text_of(path)
        if cause and len(self.files) == 1:
            raise InputError(_NO_TEXT[cause], file=str(path), hint=f"documents are {_KINDS}")
        if cause:
            self.left_out[cause] += 1
        return text

    def _names(self, row: Row, path: Path) -> dict[str, str]:
        """What the columns of a file of chunks are called in it."""
        names = {}
        for name, titles in _TITLES.items():
            title = self.columns.get(name) or next((title for title in titles if title in row), None)
            if title is not None and title in row:
                names[name] = title
            elif name in ("id", "text"):
                hint = f"say what it is called with {option('column', f'{name}=YOURS')}; there are {', '.join(row)}"
                raise InputError(f"chunks need a column {name}", file=str(path), hint=hint)
        return names

    def _chunks(self) -> Iterator[Passage]:
        """The chunks of all files that have them."""
        seen: set[int] = set()
        for path in filter(_is_of_chunks, self.files):
            names = None
            for line, row in open_file(path, Reading()).records():
                names = names or self._names(row, path)
                cells = {name: as_text(row.get(title)) or "" for name, title in names.items()}
                text, chunk = cells["text"], cells["id"]
                if not chunk:
                    raise InputError("this chunk has no id", file=str(path), line=line)
                if (number := int.from_bytes(hashlib.blake2b(chunk.encode(), digest_size=8).digest())) in seen:
                    hint = "each chunk needs an id of its own: it is what a question's gold passage is named by"
                    raise InputError(f"the id {chunk!r} stands twice", file=str(path), line=line, hint=hint)
                seen.add(number)
                language = self.language or language_code(cells.get("language")) or language_of(text)
                yield Passage(chunk, text, cells.get("source") or chunk, cells.get("title", ""), str(language))

    def _cut(self, text: str, name: str, repeated: frozenset[int]) -> Iterator[Passage]:
        language = self.language or language_of(text)
        paragraphs = (one for one in paragraphs_of(text) if _mark(one) not in repeated)
        for passage in passages_of(paragraphs):
            yield Passage(name, passage.text, name, passage.heading, language)

    def _of_many_documents(self, texts: Iterable[_Text]) -> frozenset[int]:
        """The marks of paragraphs that many documents have: menus, notices, licences."""
        documents = Counter[int]()
        for _, text in texts:
            documents.update({_mark(paragraph) for paragraph in paragraphs_of(text)})
        least = max(_REPEATED, _REPEATED_SHARE * len(self.files))
        repeated = frozenset(mark for mark, count in documents.items() if count >= least)
        self.left_out["repeated_paragraphs"] += len(repeated)
        return repeated


class _Kept(Generic[_Item]):
    """Texts or passages in a file without a name, so that none is read twice and memory stays flat."""

    def __init__(self, items: Iterable[_Item], kind: type[_Item]) -> None:
        self._file, self._decode = TemporaryFile(), msgspec.json.Decoder(kind).decode  # noqa: SIM115 - see below
        for item in items:
            self._file.write(msgspec.json.encode(item) + b"\n")

    def __iter__(self) -> Iterator[_Item]:
        place = 0
        while self._file.seek(place) == place and (lines := self._file.readlines(_BLOCK)):
            place = self._file.tell()
            yield from map(self._decode, lines)

    def __del__(self) -> None:
        self._file.close()


def _is_of_chunks(path: Path) -> bool:
    return format_of(path) in READERS


def _mark(paragraph: Paragraph) -> int:
    return crc32(" ".join(paragraph.text.split()).encode("utf-8", "replace"))


def _files(place: Path, left_out: Counter[str]) -> Iterator[Path]:
    """The documents at a path; what is of another format is counted, unless it was named by itself."""
    if not is_glob(place) and not place.exists():
        raise InputError("there is no such file", file=str(place), hint=f"the current folder is {Path.cwd()}")
    if place.is_dir() and (corpus := beir.corpus_of(place)) is not None:
        yield corpus
        return
    if not is_glob(place) and not place.is_dir():
        if not _is_document(place):
            raise InputError(
                f"can't tell what {place.suffix or 'it'} is", file=str(place), hint=f"documents are {_KINDS}"
            )
        yield place
        return
    for file in files_of(place):
        path = Path(file.location)  # type: ignore[arg-type]  # of a folder on the disk
        if _is_document(path):
            yield path
        else:
            left_out[UNKNOWN_FORMAT] += 1


def _is_document(path: Path) -> bool:
    return _is_of_chunks(path) or path.suffix.lower() in {*_TEXTS, *_PAGES, _PDF}


def _names(files: Sequence[Path]) -> dict[Path, str]:
    """What each document is called: its path below the folder that all are in."""
    folders = {path.parent for path in files}
    common = Path(*_common([folder.parts for folder in folders])) if folders else Path()
    return {path: path.relative_to(common).as_posix() for path in files}


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    common = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return common


def _text_of(path: Path) -> tuple[str, str]:
    """The text of a document as Markdown, and why it has none."""
    if path.suffix.lower() == _PDF:
        return _text_of_pdf(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", "not_text"
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    if "\0" in text:
        return "", "not_text"
    return (text_of_page(text) if path.suffix.lower() in _PAGES else text), ""


def _text_of_pdf(path: Path) -> tuple[str, str]:
    """The text of a PDF, page by page, and why it has none."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, FileNotDecryptedError
    except ImportError:
        raise MissingExtraError("to read PDF files", extra="pdf") from None
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # a damaged file is counted, not logged
    try:
        with path.open("rb") as file:
            text = "\n\n".join(page.extract_text() for page in PdfReader(file).pages).translate(_LIGATURES)
            text = text.encode("utf-8", "replace").decode()  # half of a pair of code units is no letter
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(path)) from None
    except (FileNotDecryptedError, DependencyError):
        return "", "pdf_locked"
    except Exception:
        return "", "pdf_damaged"
    return text, "" if text.strip() else "pdf_without_text"
