import os
import sys
from pathlib import Path

from openai import OpenAI

import ragmeter

# Add the current directory to the path so we can import rag module when run as a script
sys.path.insert(0, str(Path(__file__).parent))
from rag import default_rag_client

openai_client = OpenAI(api_key=os.environ.get("OPENAI_API_KEY"))
rag_client = default_rag_client(llm_client=openai_client, logdir="evals/logs")
judge = ragmeter.Judge("gpt-4o")


def load_dataset():
    return [
        {
            "question": "What is ragas 0.3",
            "grading_notes": "- experimentation as the central pillar - provides abstraction for datasets, experiments and metrics - supports evals for RAG, LLM workflows and Agents",
        },
        {
            "question": "how are experiment results stored in ragas 0.3?",
            "grading_notes": "- configured using different backends like local, gdrive, etc - stored under experiments/ folder in the backend storage",
        },
        {
            "question": "What metrics are supported in ragas 0.3?",
            "grading_notes": "- provides abstraction for discrete, numerical and ranking metrics",
        },
    ]


Path("correctness.md").write_text(
    "Does the response contain the points mentioned in the grading notes?\n{answer} Grading Notes: {grading_notes}"
)


def main():
    dataset = load_dataset()
    print("dataset loaded successfully", dataset)
    experiment_results = ragmeter.ask(dataset, rag_client.query, metrics="criteria[file=correctness.md]", judge=judge)
    print("Experiment completed successfully!")
    print("Experiment results:", experiment_results)

    # The experiment's results are in the folder of runs
    print(f"\nExperiment results saved to: {experiment_results.folder.location}")


if __name__ == "__main__":
    main()
