"""What can be done with runs of the list: rename, tag, set as baseline, delete, restore, compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ragmeter.app import wording
from ragmeter.app.fields import text_of
from ragmeter.app.run_list import ListQuery
from ragmeter.errors import UsageError
from ragmeter.io.decoding import JsonObject
from ragmeter.runs.baselines import read_baselines, set_baseline
from ragmeter.runs.catalogue import RunEntry
from ragmeter.runs.renaming import rename_run
from ragmeter.runs.run import Run
from ragmeter.runs.tags import change_tags, read_tags
from ragmeter.runs.trash import DeletedRun, delete_run, restore_run
from ragmeter.show.page.elements import Content, Markup, address, element, joined, text
from ragmeter.show.page.parts import field, folded, worded
from ragmeter.wording import times

#: Deleted runs that the page lists.
_MOST_DELETED = 20


def actions_button(run: str) -> Markup:
    """The button that opens a run's actions, which are fetched then."""
    return element(
        "button", "⋯", type="button", class_="quiet dots", aria_label=f"{wording.ACTIONS}: {run}",
        aria_haspopup="dialog", hx_get=address("run", run, "actions"), hx_target="#actions", hx_select="#run-actions",
        hx_swap="innerHTML ignoreTitle:true",
    )  # fmt: skip


def actions_page(entry: RunEntry) -> Markup:
    """A run's actions, for the dialog."""
    name = element("input", name="name", value=entry.name, required=True, maxlength="200", autocomplete="off")
    tags = element("input", name="tags", value=" ".join(entry.tags), autocomplete="off")
    baseline = wording.UNSET_BASELINE if entry.is_baseline else wording.SET_BASELINE
    can_be_baseline = bool(entry.questions) and not entry.error
    return element(
        "div",
        element("h2", text(entry.name)),
        _form(entry, "rename", field(wording.NAME, name), wording.RENAME),
        None if entry.error else _form(entry, "tags", field(wording.TAGS, tags), wording.SAVE),
        _form(entry, "baseline", None, baseline, wording.BASELINE_MEANS) if can_be_baseline else None,
        _form(entry, "delete", None, wording.DELETE, wording.DELETE_MEANS),
        element("form", element("button", wording.CLOSE, class_="quiet"), method="dialog"),
        id="run-actions",
    )


def _form(entry: RunEntry, action: str, control: Content, label: str, about: str = "") -> Markup:
    button = element("button", label, class_="quiet")
    where = address("run", entry.name, action)
    return element("form", control, " ", button, " ", element("span", worded(about), class_="soft"), data_post=where)


def act(run: Run, action: str, form: JsonObject, questions: str, renamed: Callable[[Run, Run], None]) -> JsonObject:
    """Do what a form asks for; returns the fields of the list's address that change by it.

    `questions` is the fingerprint of the run's question set; `renamed` is called with a run under its old and new name.
    """
    folder = run.path.parent
    if action == "delete":
        return {"deleted": delete_run(run.path).name}
    if action == "rename":
        renamed(run, Run(rename_run(run.path, text_of(form, "name").strip())))
    elif action == "baseline" and questions:
        is_baseline = read_baselines(folder).get(questions) == run.name
        set_baseline(folder, questions, None if is_baseline else run.name)
    elif action == "tags":
        wanted = text_of(form, "tags").split()
        removed = set(read_tags(folder).get(run.name, [])) - set(wanted)
        return {"tags": change_tags(folder, run.name, add=wanted, remove=removed)}
    else:
        raise UsageError(f"{action[:40]!r} can't be done with this run")
    return {}


def restored(folder: Path, key: str) -> JsonObject:
    """Restore a deleted run."""
    restore_run(folder, key)
    return {"deleted": ""}


def deleted_note(query: ListQuery, deleted: Sequence[DeletedRun]) -> Content:
    """After a run was deleted: what became of it, and how to have it back."""
    run = next((run for run in deleted if run.path.name == query.deleted), None)
    if run is None:
        return None
    words = joined(
        element("strong", text(run.name)), " ", wording.IS_DELETED, " ", _restoring(run, wording.UNDO_DELETE)
    )
    return element("div", words, " ", element("span", worded(wording.TRASH_RULE), class_="soft"), class_="note")


def trash(deleted: Sequence[DeletedRun]) -> Content:
    """The runs that can be restored."""
    if not deleted:
        return None
    lines = [
        element("li", text(run.name), " ", element("span", times.spoken(run.deleted), class_="soft"), " ",
                _restoring(run, wording.RESTORE))
        for run in deleted[:_MOST_DELETED]
    ]  # fmt: skip
    more = len(deleted) - _MOST_DELETED
    rest = element("p", wording.AND_MORE.format(count=more), class_="soft") if more > 0 else None
    rule = element("p", worded(wording.TRASH_RULE), class_="soft")
    return folded(wording.DELETED_RUNS.format(count=len(deleted)), rule, element("ul", lines), rest, name="deleted")


def _restoring(run: DeletedRun, label: str) -> Markup:
    button = element("button", label, class_="quiet", aria_label=f"{label}: {run.name}")
    return element("form", button, data_post=address("deleted", run.path.name, "restore"), class_="inline")


def comparison_bar() -> Markup:
    """What the script shows at the foot once runs are ticked."""
    return element(
        "form",
        element("span", wording.BASELINE, " ", element("strong", class_="baseline")),
        element(
            "button", "⇄", type="button", class_="quiet swap", aria_label=wording.SWAP, title=wording.SWAP
        ),
        element("span", wording.CANDIDATE, " ", element("strong", class_="candidate")),
        element("span", class_="soft warning", data_many=wording.TOO_MANY, data_differ=wording.OTHER_QUESTIONS,
                data_none=wording.NO_QUESTION_SHARED,
                data_one=wording.ONE_MORE),
        element("button", wording.COMPARE, class_="go"),
        element("button", wording.CLEAR, type="button", class_="quiet clear"),
        id="ticked", action="/compare", method="get", hidden=True, aria_label=wording.COMPARE,
    )  # fmt: skip
