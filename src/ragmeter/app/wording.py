"""The app's English texts, in one place: another language is another file like this."""

from __future__ import annotations

ALL_RUNS = "All runs"
RUNS = "Runs"
PAGES = "Pages"
MENU = "Menu"
BREADCRUMB = "Breadcrumb"
WAITING = "Working"
FIND_RUN = "Find a run"
NO_RUN = "No run has this in its name or tags."
CLOSE = "Close"
KEYS_TITLE = "Keys"
KEYS_EVERYWHERE = {
    "Ctrl K": "find a run",
    "/": "search on this page",
    "j": "next row, or next page of rows",
    "k": "previous row, or previous page of rows",
    "c, w, s, b": "label: correct, wrong, skip, back",
    "?": "these keys",
}
SEARCH = "Search"
RUN = "Run"
SYSTEM = "System"
CREATED = "Created"
ROWS = "Rows"
FAILED = "Not scored"
COST = "Cost"
DATA = "Data set"
BASELINE, CANDIDATE = "Baseline", "Candidate"
ADD_RUN, CHOOSE_RUN = "+ run", "choose a run"
SWAP = "Swap baseline and candidate"
CHOOSE_TWO = "Choose a baseline and a candidate: two runs of the same questions."
COMPARING = "Comparing {rows:,} rows …"
COPY_LINK = "Copy link"
FARTHEST = "any"
ORDER = "Order"
SORTS = {
    "change": "largest change first",
    "file": "as in the file",
    "baseline": "worst of the baseline first",
    "candidate": "worst of the candidate first",
}
ADD_FILTER, ADD, REMOVE = "+ filter", "Add", "Remove"
PAGE_OF = "page {page:,} of {last:,}"
MARGIN = "Margins"
SIDE_BY_SIDE = "Side by side"
CHOOSE = "Choose"
CHOOSE_RUNS = "Choose two to five runs of the same questions, then press the button."
NO_RUNS = "There are no runs in this folder yet. `ragmeter evaluate`, `ask` and `web` write them there."
CONVERSATION = "Conversation"
TURN_OF = "Turn {turn} of {total} of a conversation"
TURN = "Turn {turn}"
MORE_TURNS = "and {count:,} more turns"
OVER_TIME = "Over time"
DAMAGED = "can't be read:"
FIGURES = "Scores"
CAUSES = "Where it failed"
SLICES = "Slices"
BY = "By"
VALUE = "Value"
QUESTION = "Question"
REFERENCE = "Reference"
ANSWER = "Answer"
CONTEXTS = "Retrieved passages"
SCORES = "Scores"
JUDGE = "Judge"
EVIDENCE = "Evidence of the offline judge"
CLAIMS = "Claims"
CLAIM = "Claim"
BY_PASSAGES = "by the passages"
PARTS = {"passage": {1: "passage", 2: "passages"}, "claim": {1: "claim", 2: "claims"}}
FOR_CLAIMS = {"supported": "supports", "contradicted": "contradicts"}
BY_TEXT = "by the {text}"
CALLS = "Calls"
REPLY = "Reply"
PROMPT_CHANGED = "The words of this prompt have changed since then; these are today's."
MARKERS = "The markers around the texts are made at random for each call."
NO_REPLY = "(an empty reply)"
MARKED = "marked"
UNSUPPORTED = "words that no passage has"
SUPPORTED = "words that the claims of the answer have too"
OTHER = "Other columns"
FILTER = "Show"
ALL = "all"
NOT_SCORED = "rows with no score"
ROWS_NOT_SCORED = {1: "1 row has no score: {cause}", 2: "{count:,} rows have no score: {cause}"}
METRIC = "Metric"
FROM = "from"
TO = "to"
COLUMN = "Column"
ANY = "any"
CLEAR = "Clear"
EXPORT = "Download these rows:"
REPORT = "Report"
PREVIOUS = "Previous"
NEXT = "Next"
NO_ROWS = "No row matches."
FIRST_PAGE = "To the first page"
NO_ANSWER = "no answer"
NO_SCORE = "no score"
SHOWN = "{first:,} to {last:,} of {total:,} rows"
BACK = "Back to the rows"
SETTINGS = "Settings"
TEST = "Test"
TESTS = {
    "randomisation": "randomisation",
    "bootstrap": "bootstrap",
    "t": "Student's t",
    "mcnemar": "McNemar (scores of 0 and 1)",
}
ALPHA = "Alpha"
COMPARE = "Compare"
KEEP = "Keep with the runs"
KEPT = "Kept with the runs on {day}; the report of these runs shows this comparison."
KEPT_BEFORE = "The comparison that is kept with the runs is of an earlier state of them."
CHANGE = "Rows"
CHANGES = {
    "all": "all rows",
    "better": "got better",
    "worse": "got worse",
    "differs": "differ",
    "same": "the same",
    "right": "right in both",
    "wrong": "wrong in both",
    "failed": "no score in the candidate alone",
}
LABEL = "Label"
LABEL_INTRO = "Is the answer correct? Every label is saved at once, in a file that `ragmeter label` can go on with."
RATER = "Your name"
HOW_MANY = "How many rows"
SAMPLE = "Sample"
SAMPLES = {"random": "random", "stratified": "stratified by columns", "disagreement": "where metrics disagree"}
STRATA = "Stratify by"
AGREEMENT = "Agreement among people"
RATERS = "People"
LABELS = "Labels"
DISAGREEMENTS = "Rows that people have labelled differently"
NO_LABELS = "Nobody has labelled a row of this run yet."
ONE_RATER = "One person has labelled this run: agreement needs a second one."
AND_MORE = "and {count:,} more"
MORE_ROWS = "and {count:,} more rows"
SEED = "Seed"
BLIND = "Don't show which system answered"
BEGIN = "Begin"
CORRECT, WRONG, SKIP, UNDO = "Correct", "Wrong", "Skip", "Back"
KEYS = "Keys: c correct, w wrong, s skip, b back."
NOTE = "Note"
PROGRESS = "{done:,} of {total:,} labelled"
LABELLED_ELSEWHERE = "Not saved: in another window this row was labelled meanwhile: {label}. Load the page again."
NO_LABEL = "none"
ALL_LABELLED = "All rows are labelled."
CALIBRATION = "Calibration"
TOO_FEW_LABELS = "It takes at least {needed:,} rows that are labelled correct or wrong; there are {given:,}."
CHOOSE_METRIC = "Choose the metric to compare with people."
THEME = "Light or dark"
SKIP_TO_MAIN = "Skip to the content"
ERROR = "That did not work"
SIGNATURE = "How to reproduce"
UNDER_WAY = "Under way"
TIME_LEFT = "about {seconds:,.0f} s left"
TAGS = "Tags"
SAVE = "Save"


def counted_rows(count: int) -> str:
    """A number of rows: `1 row`, `44 rows`."""
    return f"{count:,} row{'' if count == 1 else 's'}"
