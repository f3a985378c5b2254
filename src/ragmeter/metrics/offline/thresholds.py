"""Every threshold of the offline judge that was chosen, and none that only bounds time or memory."""

from __future__ import annotations

# Guards: limits of the probability, and what they look at.
NOT_SURE = 0.8  # a cap that decides nothing
WRONG = 0.2
LONGEST_ANSWER = 700  # words
HEAP = 25  # other words, where the answer does not take up the question
LARGE_HEAP = 80
ON_TOPIC = 0.5  # of the question's content words: an answer with fewer may be a heap
ECHO = 0.85  # of the question's content words

# Mentions of the gold answer.
GAP = 3  # places between gold words of the same mention
MENTION = 0.6  # the size of a mention, as a share of the longest one's words
SAYS_NOTHING = 0.3  # of the question's words: below it, a sentence does not address the question
BRIEF_ANSWER = 26  # words beside the gold ones, where an "or" decides
SECOND_NAME = 2  # other words: a second name of one thing, where the question asks what it is called
SHORT_ANSWER = 45  # words beside the gold ones; longer answers have lists for other reasons

# How far negations, alternatives and denials reach.
SAID_BACK = 0.7  # of the question's words
REACH = 5  # words between a negation or an "or" and the mention in its scope
FAR = 8  # words between a negation and a mention in the same sentence
FIRST_WORDS = 5  # of a sentence: a negation there applies to the whole sentence
AUXILIARY = 3  # words between a mention and a "not" after it: Paris has certainly not been
RETORT = 4  # the most words of a sentence that denies the one before it
TO_THE_LAST = 9  # words between a candidate and the "or" before the last candidate
CANDIDATES = 2  # other candidates that make a list
CANDIDATE = 8  # the most words of a candidate

# Polarity. Of several clauses the one with the largest sum answers: 1 for each word of the topic, and what stands here.
SHORT_STATEMENT = 30  # words of an answer that is compared with the gold answer alone
RESTATED = 0.5  # of the gold answer's other content words, so that the same polarity means the same answer
AFFIRMING = 1.5  # for a concept that says yes or no, and that the question or gold answer has too
REWORDED = 0.05  # for such a concept in different words
OTHER_WORD = -0.05  # for each content word
SHARED_WORD = 0.1  # for each word that the clause of the question or gold answer has too
SAME_BEGINNING = 5  # letters of two words that count as forms of one word

# Gold words in other forms.
#: From this similarity on, two words count as spellings of the same word: one letter in five may differ.
ALIKE = 0.8
STEM = 0.6  # the common beginning of two forms of a word, as a share of the longer one's letters
SHORTEST_SPELLED = 4  # the fewest letters of a word that may be spelled differently
SQUASHED = 5  # the fewest letters of a gold answer that may be written as one word or as several
INITIAL = 0.7  # the credit of an initial in place of a name

# Words and numbers that mean nearly the same.
RELATED = 0.8  # the credit of such a word
YEARS = 100, 2100  # the range of years
COUNTED = 1e6  # below it, whole numbers count as rounded only if they end in two zeros
ROUNDED = 0.005  # the largest relative difference of a rounded number

# Features.
OF_A_WORD = 0.25  # a group of letters, in scripts without spaces
NOT_THERE = 200.0  # the position of a gold word that does not occur
