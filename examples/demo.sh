#!/bin/sh
# The main job on the example files: what `make demo` runs. Everything is written to demo-output/.
set -eu
cd "$(dirname "$0")/.."
rm -rf demo-output
mkdir demo-output
export RAGMETER_CACHE="$PWD/demo-output/cache"

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

echo "1. The evaluators that people know, with their files"
run ragmeter evaluate --evaluator EditDistanceEvaluator ContextRecall \
    --results examples/english_BasicRAG.tsv --reference examples/english_reference.tsv \
    --output-dir demo-output/evaluation_results

echo
echo "2. Spanish answers by five scores, one file in, one file out"
run ragmeter evaluate --evaluator ResponseEvaluator --language es \
    --results examples/spanish_chat.csv --output-format csv --output-dir demo-output/evaluation_results

echo
echo "3. Any metrics into a run folder, with intervals, and every failed row counted"
run ragmeter evaluate --metrics token_f1,rouge_l_score,exact_match,ndcg@10,recall@3 --language en \
    --results examples/english_BasicRAG.tsv --reference examples/english_reference.tsv \
    --run english --output-dir demo-output/runs

echo
echo "4. An agent answers conversations, turn after turn; then they are judged, here by exact match alone"
run ragmeter crag generate --dataset examples/conversations.jsonl --agent examples.museum_agent:MuseumAgent --no-images \
    --output demo-output/crag/turn_data.jsonl
run ragmeter crag evaluate --turns demo-output/crag/turn_data.jsonl --judge-model none \
    --output-dir demo-output/crag/results

echo
echo "5. What a language model as a judge would take; nothing is asked"
run ragmeter crag evaluate --turns demo-output/crag/turn_data.jsonl --judge-model gpt-4o --dry-run \
    --output-dir demo-output/crag/judged

echo
echo "6. A live system, asked over HTTP: similarity by a small model that comes as a package, coverage, satisfaction, latency"
python examples/rag_app.py --port 0 > demo-output/port &
app=$!
trap 'kill $app' EXIT
while [ ! -s demo-output/port ]; do sleep 0.1; done
run ragmeter ask --dataset examples/agenda_qa.jsonl --target "http://127.0.0.1:$(cat demo-output/port)/query" \
    --request '{"q": "{question}", "session_id": "{session_id}"}' --retrieved-path 'events[*].id' \
    --embedding-model wordllama --run agenda --output-dir demo-output/runs --output demo-output/results.json
rm demo-output/port

echo
echo "7. More metrics for the same run, without asking again"
run ragmeter evaluate --run agenda --metrics rouge_l_score --language en --output-dir demo-output/runs

echo
echo "8. Did a change help? Two systems on the same questions, with a test, and what it would take to be sure"
run ragmeter evaluate --metrics token_f1,rouge_l_score,exact_match,ndcg@10,recall@3 --language en \
    --results examples/english_TunedRAG.tsv --reference examples/english_reference.tsv \
    --run tuned --output-dir demo-output/runs
run ragmeter compare english tuned --metrics token_f1,ndcg@10 --movers 1 --output-dir demo-output/runs
run ragmeter power english tuned --metric token_f1 --output-dir demo-output/runs

echo
echo "9. A page to look into, and a gate for CI"
run ragmeter report english tuned --output demo-output/report.html --output-dir demo-output/runs
run ragmeter gate tuned --fail-under token_f1=0.6 --no-worse-than english:ndcg@10:0.05 --output-dir demo-output/runs

echo
echo "10. Right or wrong, as a person would say, without a language model; and why"
run ragmeter evaluate --run english --metrics offline_correct --language en --output-dir demo-output/runs
run ragmeter explain english 3 --output-dir demo-output/runs

echo
echo "Files written:"
find demo-output -type f | sort
