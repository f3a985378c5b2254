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
    "Esc": "close the row beside the table",
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
MARKS = {"unsupported": "words that no passage has", "shared": "words that the reference has, too"}
SUPPORTED = "words that the claims of the answer have too"
OTHER = "Other columns"
FILTER = "Show"
ROWS_NOT_SCORED = {1: "1 row has no score:", 2: "{count:,} rows have no score:"}
METRIC = "Metric"
TO = "to"
COLUMN = "Column"
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
TIME_LEFT = "about {seconds:,.0f} s left"
TAGS = "Tags"
SAVE = "Save"
ROW = "Row"
NOTES = "Notes"
SLICES_BY = "Slices by"
COUNTING = "Counting …"
HISTOGRAM = "{metric}: rows by score; each bar leads to its rows"
OF_ROWS = "rows"
YES_NO = ("no", "yes")
TONES = {"better": "better than on all rows", "worse": "worse than on all rows"}
MORE_METRICS = "{count:,} more metrics"
MORE_LINES = "{count:,} more"
FAILED_ROWS = "The system failed on {count:,} of {total:,} rows:"
JUDGE_FAILED = "The judge failed on {count:,} of {total:,} rows:"
COMPARE_WITH = "Compare with …"
SEARCH_ROWS = "Search the rows"
ADD_FILTER = "Add"
FILTER_BY = "Filter by …"
COMPARISON_OF = "Comparison"
COMPARISONS = {
    "eq": "=",
    "ne": "≠",
    "lt": "<",
    "le": "≤",
    "gt": ">",
    "ge": "≥",
    "has": "contains",
    "none": "has no value",
    "some": "has a value",
}
COLUMNS = "Columns"
USUAL_COLUMNS = "the usual columns"
PRESETS = {
    "wrong": "wrong",
    "hallucinated": "likely hallucinated",
    "no_score": "no score",
    "disagree": "judges disagree",
}
REMOVE = "Remove the filter on {what}"
ASCENDING, DESCENDING = "sorted, least first", "sorted, greatest first"
SHOW_COLUMNS = "Show these"
VERDICT = "Verdict"
OTHER_RUNS = "Other runs"
OWN_PAGE = "Own page"
AS_MARKDOWN = "show as Markdown"
AS_WRITTEN = "show as it is written"
BY_METRIC = "by"
RIGHT = "right"
WRONG_ANSWER = "wrong"
YOUR_LABEL = "Your label:"
SAVED = "saved"
NAME_NEEDED = "a label needs your name"
NOT_IN_SAMPLE = (
    "{qid} is not in the sample that was drawn for {rater}: a row that was picked would bias what its labels say of "
    "the run. Labels of rows that you pick need another name."
)
GOLD = "gold"
GOLD_NOT_RETRIEVED = "Gold, and not retrieved:"
DOWNLOAD = "Download"
WITHOUT_SCORE = "Rows with no score:"
DAMAGED_RUN = "This run is damaged."
