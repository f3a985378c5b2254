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
    "j": "next run or row, or next page of rows",
    "k": "previous run or row, or previous page of rows",
    "x": "tick a run of the list",
    "c, w, s, b": "label: correct, wrong, skip, back",
    "?": "these keys",
}
SEARCH = "Search"
RUN = "Run"
SYSTEM = "System"
CREATED = "When"
ROWS = "Rows"
FAILED = "No score"
COST = "Cost"
SIDE_BY_SIDE = "Side by side"
CHOOSE = "Choose"
NO_RUNS = "There are no runs in this folder yet. `ragmeter evaluate`, `ask` and `web` write them there."
CONVERSATION = "Conversation"
TURN_OF = "Turn {turn} of {total} of a conversation"
TURN = "Turn {turn}"
MORE_TURNS = "and {count:,} more turns"
OVER_TIME = "Over time"
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
REPORT = "The report page"
PREVIOUS = "Previous"
NEXT = "Next"
NO_ROWS = "No row matches."
FIRST_PAGE = "To the first page"
NO_ANSWER = "no answer"
NO_SCORE = "no score"
SHOWN = "{first:,} to {last:,} of {total:,} rows"
BACK = "Back to the rows"
COMPARISON = "Comparison"
COMPUTE = "Compute the comparison"
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
GOT_WORSE = "Rows that got worse"
GOT_BETTER = "Rows that got better"
CHANGE = "Rows"
CHANGES = {
    "all": "all",
    "better": "got better",
    "worse": "got worse",
    "differs": "differ",
    "failed": "failed in the last run only",
}
BY_MORE_THAN = "by more than"
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
TIME_LEFT = "about {time} left"
TAGS = "Tags"
SAVE = "Save"
SEARCH_RUNS = "Search runs"
SEARCH_FINDS = "All words, in the name, the tags, the system, the question set or the date of a run"
FACETS = {"set": "Questions", "system": "System", "tag": "Tag", "when": "When", "status": "Status"}
DATES = {"today": "today", "7": "the last 7 days", "30": "the last 30 days"}
STATUSES = {
    "complete": "every row has its scores",
    "no_score": "some rows have no score",
    "failed": "the judge or the system failed on all rows",
    "damaged": "damaged",
}
NO_VALUE = "There is nothing to choose."
MORE_VALUES = "and {count:,} more, which the search finds"
COLUMNS = "Columns"
UP_TO_METRICS = "Up to {count} metrics"
QUESTION_SET_MEANS = (
    "Runs whose qids, questions and references are the same stand together: they can be compared row by row. "
    "A run of some of the questions is another set."
)
NO_SET = "unknown questions"
NO_SYSTEM = "unknown system"
QUESTIONS = {0: "no questions", 1: "1 question", 2: "{count:,} questions"}
RUNS_OF = {0: "no runs", 1: "1 run", 2: "{count} runs"}
OF_ALL = " of {count:,}"
SOME_RUNS = "{first:,} to {last:,} of {total:,} runs"
SOME_SETS = "{count} of {total:,} question sets; choose one above to see its runs"
NO_MATCH = "No run is like this."
NO_HISTORY = "It takes two runs of the same questions with this metric."
WITHOUT_METRIC = ", {count:,} without this metric"
DAMAGED_RUN = "damaged"
THE_SYSTEM = "the system"
FAILED_ON_ALL = "{who} failed on all {count:,} rows"
OF_RUN = "of"
MORE_FAILED = "all {count:,} runs in which everything failed"
RIGHT_SO_FAR = "{share} right so far"
ONLY_TAG = "only runs with this tag"
ACTIONS = "Actions"
NAME = "Name"
RENAME = "Rename"
BASELINE = "Baseline"
CANDIDATE = "Candidate"
SWAP = "Swap baseline and candidate"
TOO_MANY = "five runs at most can be compared"
ONE_MORE = "tick one more run"
OTHER_QUESTIONS = "not the same questions: only those that both have are compared"
SET_BASELINE = "Set as baseline"
UNSET_BASELINE = "No longer the baseline"
BASELINE_MEANS = "Comparisons of runs of the same questions begin with it."
DELETE = "Delete"
DELETE_MEANS = "It can be restored until `ragmeter runs prune` deletes it for good."
IS_DELETED = "is deleted."
RESTORE = "Restore"
DELETED_RUNS = "Deleted runs: {count:,}"
TRASH_RULE = (
    "Deleted runs stay in the folder `.trash` beside the runs until `ragmeter runs prune` deletes them for good."
)
UNDO_DELETE = "Undo"
