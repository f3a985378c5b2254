"""Write Markdown files as one comment of a pull request, and the next time into the same comment.

    python tools/pull_request_comment.py 'ragmeter*.md' --name ragmeter --code 1

`action.yml` runs it. GitHub's variables say which pull request it is, and the token is taken from the environment
alone ($GITHUB_TOKEN). It needs nothing but Python. What goes wrong here is one line of warning and never an exit code:
whether the pull request is good enough is the gate's to say.
"""

from __future__ import annotations

import argparse
import glob
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

#: The most characters of a comment that GitHub takes, with room for the line that says so.
_LONGEST = 65_000
_PER_PAGE, _MOST_PAGES = 100, 100
_SECONDS = 30
_HINTS = {
    401: "the token is not valid",
    403: 'give the job "permissions: pull-requests: write"; a pull request from a fork never has it',
    404: 'give the job "permissions: pull-requests: write", and see that the token is one of this repository',
    410: "comments are turned off in this repository",
}


class CommentError(Exception):
    """The comment was not written; the message says why, in one line."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token goes to nobody but the address that was named."""

    def redirect_request(self, *arguments: object) -> None:
        return None


class Api:
    """GitHub's REST interface for one repository."""

    def __init__(self, base: str, repository: str, token: str) -> None:
        if not base.startswith(("https://", "http://")):
            raise CommentError(f"GITHUB_API_URL is no web address: {base}")
        self._base = f"{base.rstrip('/')}/repos/{repository}"
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(self, method: str, path: str, document: dict[str, str] | None = None) -> Any:
        """Ask, and return the reply; an error of one line for whatever is no reply."""
        request = urllib.request.Request(  # noqa: S310 - http or https, see above
            f"{self._base}{path}",
            method=method,
            data=None if document is None else json.dumps(document).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "ragmeter",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with self._opener.open(request, timeout=_SECONDS) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise CommentError(self._without_token(_refusal(error))) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CommentError(self._without_token(f"GitHub can't be reached: {error}")) from None

    def _without_token(self, text: str) -> str:
        return text.replace(self._token, "***")


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        message = str(json.load(error)["message"])
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        message = str(error.reason)
    hint = _HINTS.get(error.code, "run the job again later" if error.code >= 500 else "")
    return f"GitHub answered {error.code}, {message[:200]!r}" + (f": {hint}" if hint else "")


def comments_of(api: Api, number: int) -> Iterator[dict[str, Any]]:
    """All comments of a pull request, the oldest first."""
    for page in range(1, _MOST_PAGES + 1):
        comments = api.call("GET", f"/issues/{number}/comments?per_page={_PER_PAGE}&page={page}")
        if not isinstance(comments, list):
            raise CommentError("GitHub's reply is no list of comments")
        yield from comments
        if len(comments) < _PER_PAGE:
            return


def write_comment(api: Api, number: int, name: str, text: str, author: str) -> str:
    """Write the comment of this name anew, or make it; return what was done.

    Anybody can write a comment that begins like ours, and change it later: only the author's own counts.
    """
    mark = f"<!-- ragmeter: {name} -->"
    body = f"{mark}\n{text}"
    for comment in comments_of(api, number):
        is_own = str((comment.get("user") or {}).get("login")) == author
        if is_own and str(comment.get("body")).startswith(mark):
            api.call("PATCH", f"/issues/comments/{int(comment['id'])}", {"body": body})
            return "updated"
    api.call("POST", f"/issues/{number}/comments", {"body": body})
    return "written"


def text_of(patterns: Sequence[str], code: int) -> str:
    """The text of the comment: the files, or without any, that there is no result."""
    files = [Path(name) for pattern in patterns for name in sorted(glob.glob(pattern))]  # noqa: PTH207 - may be absolute
    text = "\n\n".join(file.read_text(encoding="utf-8", errors="replace").strip() for file in files)
    if not text:
        return f"ragmeter has no result: the command ended with exit code {code}. The job's log says why."
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST].rpartition(chr(10))[0]}\n\nThe rest is in the job's summary: a comment holds no more."
    return text


def pull_request() -> int | None:
    """The number of the pull request that GitHub runs this for; None for a push and the like."""
    path = os.environ.get("GITHUB_EVENT_PATH")
    if not path:
        raise CommentError("GITHUB_EVENT_PATH is not set: this runs in a workflow of GitHub")
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
        return int(event["pull_request"]["number"]) if "pull_request" in event else None
    except (OSError, ValueError, KeyError, TypeError):
        raise CommentError("the file that GITHUB_EVENT_PATH names has no number of a pull request") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the comment; the exit code is 0 whatever happens."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="Markdown files, or patterns of their names")
    parser.add_argument("--name", default="ragmeter", help="tells several comments of one pull request apart")
    parser.add_argument("--author", default="github-actions[bot]", help="whom the token belongs to")
    parser.add_argument("--code", type=int, default=0, help="the exit code of the command that wrote the files")
    chosen = parser.parse_args(arguments)
    try:
        number = pull_request()
        if number is None:
            print("no pull request, so no comment is written")
            return 0
        names = ("GITHUB_TOKEN", "GITHUB_REPOSITORY")
        if missing := [name for name in names if not os.environ.get(name)]:
            raise CommentError(f"{' and '.join(missing)} must be set")
        token, repository = (os.environ[name] for name in names)
        api = Api(os.environ.get("GITHUB_API_URL") or "https://api.github.com", repository, token)
        name = "".join(character for character in chosen.name if character.isalnum() or character in " _.")
        done = write_comment(api, number, name, text_of(chosen.files, chosen.code), chosen.author)
        print(f"the comment of pull request {number} was {done}")
    except CommentError as error:
        line = " ".join(str(error).split()).replace("%", "%25")
        print(f"::warning title=ragmeter::no comment was written: {line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
