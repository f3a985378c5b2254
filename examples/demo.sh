#!/bin/sh
# The main job on the example files: what `make demo` runs, in demo-output/, where everything is written.
set -eu
cd "$(dirname "$0")/.."
rm -rf demo-output
mkdir demo-output
cd demo-output
ln -s ../examples examples
export RAGMETER_CACHE="$PWD/cache"

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

echo "1. How good are these answers? What is measured follows from the columns; every row without a score is counted"
run ragmeter evaluate examples/english_BasicRAG.tsv examples/english_reference.tsv --run basic
run ragmeter explain basic 3

echo
echo "2. Did a change help? Two systems on the same questions, with a test, and what it would take to be sure"
run ragmeter evaluate examples/english_TunedRAG.tsv examples/english_reference.tsv --run tuned
run ragmeter compare basic tuned
run ragmeter power basic tuned --metric token_f1

echo
echo "3. The evaluators of earlier tools, with their files; Spanish answers by five scores, one file in, one file out"
run ragmeter evaluate examples/english_BasicRAG.tsv examples/english_reference.tsv \
    --evaluator EditDistanceEvaluator ContextRecall
run ragmeter evaluate examples/spanish_chat.csv --evaluator ResponseEvaluator --language es --output-format csv

echo
echo "4. An agent answers conversations, turn after turn; then they are judged, here by exact match alone"
run ragmeter crag generate --dataset examples/conversations.jsonl --agent examples.museum_agent:MuseumAgent --no-images \
    --output crag/turn_data.jsonl
run ragmeter crag evaluate --turns crag/turn_data.jsonl --judge-model none \
    --output-dir crag/results

echo
echo "5. What a language model as a judge would take; nothing is asked"
run ragmeter crag evaluate --turns crag/turn_data.jsonl --judge-model gpt-4o --dry-run \
    --output-dir crag/judged

echo
echo "6. A live system, asked over HTTP: similarity by a small model that comes as a package, coverage, satisfaction, latency"
python examples/rag_app.py --port 0 > port &
app=$!
trap 'kill $app' EXIT
while [ ! -s port ]; do sleep 0.1; done
run ragmeter ask --dataset examples/agenda_qa.jsonl --target "http://127.0.0.1:$(cat port)/query" \
    --request '{"q": "{question}", "session_id": "{session_id}"}' --retrieved-path 'events[*].id' \
    --embedding-model wordllama --run agenda --output results.json
rm port

echo
echo "7. More metrics for the same run, without asking again"
run ragmeter evaluate --run agenda --metrics rouge_l_score --language en

echo
echo "8. A page to look into, and a gate for CI"
run ragmeter report basic tuned --output report.html
run ragmeter gate tuned --fail-under token_f1=0.6 --no-worse-than basic:ndcg@10:0.05

echo
echo "Files written:"
cd ..
find demo-output -type f | sort
