"""The app's English texts, in one place: another language is another file like this."""

from __future__ import annotations

ALL_RUNS = "All runs"
RUNS = "Runs"
PAGES = "Pages"
MENU = "Menu"
BREADCRUMB = "Breadcrumb"
WAITING = "Working"
FIND_RUN = "Find a run"
NO_RUN = "No run has this in its name, tags, system, questions or date."
CLOSE = "Close"
KEYS_TITLE = "Keys"
KEYS_EVERYWHERE = {
    "Ctrl K": "find a run",
    "/": "search on this page",
    "j": "next run or row, or next page of rows",
    "k": "previous run or row, or previous page of rows",
    "x": "tick a run of the list",
    "c, w, s, b": "label: correct, wrong, skip, back",
    "Esc": "close the row beside the table",
    "n, x": "label: write a note, unfold all passages",
    "?": "these keys",
}
SEARCH = "Search"
RUN = "Run"
SYSTEM = "System"
CREATED = "When"
ROWS = "Rows"
FAILED = "No score"
COST = "Cost"
ADD_RUN, CHOOSE_RUN = "+ run", "choose a run"
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
MORE_FILTERS, ADD = "+ filter", "Add"
PAGE_OF = "page {page:,} of {last:,}"
MARGIN = "Margins"
CHOOSE = "Choose"
NO_RUNS = "There are no runs in this folder yet. `ragmeter evaluate`, `ask` and `web` write them there."
CONVERSATION = "Conversation"
TURN_OF = "Turn {turn} of {total} of a conversation"
TURN = "Turn {turn}"
TURNS_SHOWN = "{first:,} to {last:,} of {total:,} turns"
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
MARKS = {"unsupported": "words that no passage has", "shared": "words that the reference has, too"}
SUPPORTED = "words that the claims of the answer have too"
OTHER = "Other columns"
FILTER = "Show"
ROWS_NOT_SCORED = {1: "1 row has no score:", 2: "{count:,} rows have no score:"}
METRIC, DRAWING = "Metric", "Drawing"
TO = "to"
COLUMN = "Column"
CLEAR = "Clear"
EXPORT = "Download these rows:"
REPORT = "Report"
PREVIOUS = "Previous"
NEXT = "Next"
NO_ROWS = "No row matches."
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
DOCUMENTS = "Documents"
DOCUMENTS_OF_QUESTIONS = "{documents:,} documents, of {questions:,} questions"
DOCUMENTS_SHOWN = "{first:,} to {last:,} of {total:,} documents"
NO_DOCUMENTS = "No document matches."
NO_RETRIEVED = (
    "This run does not say which documents were retrieved: give the results a column `retrieved` with lists of ids."
)
KINDS_OF_DOCUMENTS = {
    "": "all documents",
    "lost": "gold, never retrieved",
    "useless": "retrieved, never useful",
    "unseen": "in the corpus, never retrieved",
}
WITH_CORPUS = "Documents of the corpus that no question found: start the app with `--corpus`."
COLUMNS_OF_DOCUMENTS = {
    "id": ("document", "The document's id; a chunk counts as its document."),
    "retrieved": ("retrieved", "How many questions it was retrieved for."),
    "gold": ("gold", "How many questions it is a gold document of."),
    "missed": ("missed", "How many of these it was not retrieved for."),
    "useful": ("useful", "How many questions it was useful for: retrieved and gold or, without gold, answered right."),
    "mean_rank": ("mean rank", "Its mean rank where it was retrieved."),
    "right": ("right when retrieved", "The share of right answers among the questions it was retrieved for."),
    "n_judged": ("n", "How many of these answers are judged."),
}
QUESTIONS_OF_DOCUMENT = "Questions"
RANK = "Rank"
MISSED = "missed"
RIGHT, NOT_RIGHT = "right", "wrong"
LABEL = "Label"
LABEL_INTRO = "Is the answer correct? Every label is saved at once, in a file that `ragmeter label` can go on with."
HAS_LABELLED = "{person} has labelled {done:,} of {total:,} rows"
SAME_ROWS = "{others}. With the same sample and seed you get the same rows, and your labels can be compared."
RATER, PERSON = "Your name", "Person"
HOW_MANY = "How many rows"
SAMPLE = "Sample"
SAMPLES = {"random": "random", "stratified": "stratified by columns", "disagreement": "where metrics disagree"}
STRATA = "Stratify by"
JUDGE_PAGE = "How good the judge is"
AGREEMENT = "Agreement among people"
RATERS = "People"
LABELS = "Labels"
DISAGREEMENTS = "Rows that people have labelled differently"
TO_SETTLE = {
    1: "Agree on 1 row that people have labelled differently",
    2: "Agree on {count:,} rows that people have labelled differently",
}
AGREED_CORRECT, AGREED_WRONG, NOT_AGREED = "Agreed: correct", "Agreed: wrong", "Leave open"
NOTHING_TO_SETTLE = "No two people have labelled a row differently: there is nothing to agree on."
ALL_SETTLED = "All of these rows were looked at."
EARLIER_TURNS = "Earlier turns"
GOLD = "gold"
UNFOLD_ALL = "x unfolds all"
NOTE_KEY = "Note (n)"
NO_LABELS = "Nobody has labelled a row of this run yet."
ONE_RATER = "One person has labelled this run: agreement needs a second one."
AND_MORE = "and {count:,} more"
MORE_ROWS = "and {count:,} more rows"
SEED = "Seed"
BLIND = "Don't show which system answered"
BEGIN = "Begin"
CORRECT, WRONG, SKIP, UNDO = "Correct", "Wrong", "Skip", "Back"
NOTE = "Note"
PROGRESS = "{done:,} of {total:,} labelled"
LABELLED_ELSEWHERE = "in another window this row was labelled meanwhile: {label}"
NO_LABEL = "none"
SAVING = "saving …"
NOT_SAVED = "Not saved:"
ALL_LABELLED = "All rows are labelled."
AGAINST_PEOPLE = "Judge against people"
ESTIMATES = "Values with their intervals"
SHARE_RIGHT, SHARE_WRONG = "Share of right answers", "Share of wrong answers"
AS_IT_IS, LABELS_ALONE, CORRECTED = "judge, as it is", "labels alone", "corrected"
RELIABILITY = "Is the judge right as often as it says?"
JUDGE_SAYS, PEOPLE_SAY = "probability, by the judge", "share right, by people"
ON_THE_DIAGONAL = (
    "On the dashed line as many answers are right as the judge says; below it, fewer are: the judge is too sure."
)
NO_PROBABILITY = (
    "This run's judge does not say how sure it is: add `offline_correct_probability`, or judge by a cascade."
)
CELLS = {
    "both_correct": "that judge and people call correct",
    "judge_alone_correct": "that only the judge calls correct",
    "people_alone_correct": "that only people call correct",
    "both_wrong": "that judge and people call wrong",
}
OF_A_JUDGE = {
    "agreement": ("agreement", "The share of labelled rows on which judge and people say the same."),
    "precision": ("precision", "Of the answers that the judge calls correct, the share that people call correct."),
    "recall": (
        "recall",
        "Of the answers that people call correct, the share that the judge calls correct (sensitivity).",
    ),
    "specificity": ("specificity", "Of the answers that people call wrong, the share that the judge calls wrong."),
    "kappa": ("Cohen's kappa", "Agreement beyond chance: 0 is chance, 1 is perfect."),
}
COST_AND_STABILITY = "Cost and stability"
VERDICTS, A_VERDICT, FLIP_RATE, NO_VERDICT = "Verdicts", "A verdict", "Flip rate", "No verdict"
ASKED_ONCE = "each row was judged once; --judge-repeats 3 shows it"
NO_PRICE = "no price"
NO_JUDGE = "No language model has judged this run, so there is nothing to pay and nothing that changes."
LABEL_ROWS = "Label some of them: a hundred show how often the judge is wrong."
NAMELESS = "no name"
AGREED_ON = "agreed on {done:,} of {total:,}"
AGREED, NOT_YET = "Agreed", "not yet"
CHOOSE_METRIC = "Choose the metric to compare with people."
THEME = "Light or dark"
SKIP_TO_MAIN = "Skip to the content"
NO_SUCH_PAGE = "there is no page {page:,} of {last:,}"
NO_PAGE = "There is no such page."
ERROR = "That did not work"
SIGNATURE = "How to reproduce"
UNDER_WAY = "Under way"
TIME_LEFT = "about {time} left"
TAGS = "Tags"
SAVE = "Save"
ROW = "Row"
NOTES = "Notes"
SLICES_BY = "Slices by"
COUNTING = "Counting …"
HISTOGRAM = "{metric}: rows by score; each bar leads to its rows"
OF_ROWS = "rows"
YES_NO = ("no", "yes")
TONES = {"better": "better than on the other rows", "worse": "worse than on the other rows"}
MORE_METRICS = "{count:,} more metrics"
MORE_LINES = "{count:,} more"
COMPARE_WITH = "Compare with …"
SEARCH_ROWS = "Search questions, answers, references"
FILTER_BY = "Filter by …"
COMPARISON_OF = "Comparison"
COMPARISONS = {
    "=": "=",
    "!=": "≠",
    "<": "<",
    "<=": "≤",
    ">": ">",
    ">=": "≥",
    "~": "contains",
    ":none": "has no value",
    ":some": "has a value",
}
HAS_OUTCOME = " has no score: "
USUAL_COLUMNS = "the usual columns"
PRESETS = {
    "wrong": "wrong",
    "is_hallucinated": "hallucinated",
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
WRONG_ANSWER = "wrong"
YOUR_LABEL = "Your label:"
SAVED = "saved"
NAME_NEEDED = "a label needs your name"
NOT_IN_SAMPLE = (
    "{qid} is not in the sample that was drawn for {rater}: a row that was picked would bias what its labels say of "
    "the run. Labels of rows that you pick need another name."
)
ROW_HAS_CHANGED = (
    "{run} has changed since this page was opened, and has another row or answer here: load the page again"
)
GOLD_NOT_RETRIEVED = "Gold, and not retrieved:"
DOWNLOAD = "Download"
WITHOUT_SCORE = "Rows with no score:"
ROWS_UNREADABLE = "This run is damaged."
SEARCH_RUNS = "Search runs"
SEARCH_FINDS = "All words, in the name, the tags, the system, the question set or the date of a run"
FACETS = {"set": "Questions", "system": "System", "tag": "Tag", "when": "When", "status": "Status"}
DATES = {"today": "today", "yesterday": "yesterday", "7": "the last 7 days", "30": "the last 30 days"}
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
NO_QUESTION_SHARED = "these runs share no question: they can't be compared"
TO_THE_RUNS = "All runs"
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


def counted_rows(count: int) -> str:
    """A number of rows: `1 row`, `44 rows`."""
    return f"{count:,} row{'' if count == 1 else 's'}"
