"""Export a run to a database of the real MLflow and print what MLflow has of it; `test_real_mlflow.py` runs this."""

import json
import sys
from pathlib import Path

from mlflow import MlflowClient

import ragmeter

ROWS = [
    {
        "qid": "1",
        "question": "secret?",
        "answer": "Paris",
        "reference": "Paris",
        "retrieved": ["d1"],
        "relevant": ["d1"],
    },
    {"qid": "2", "question": "secret?", "answer": None, "reference": "Rome", "retrieved": ["d2"], "relevant": ["d1"]},
]


if __name__ == "__main__":
    address = sys.argv[1]
    ragmeter.evaluate(ROWS, metrics="token_f1,ndcg@10,rouge_l_score[language=es]", run="nightly")
    ragmeter.export("nightly", "mlflow", tracking_uri=address, experiment="answers")
    client = MlflowClient(tracking_uri=address)
    experiment = client.get_experiment_by_name("answers")
    [logged] = client.search_runs([experiment.experiment_id])
    paths = [artifact.path for artifact in client.list_artifacts(logged.info.run_id)]
    files = [Path(client.download_artifacts(logged.info.run_id, path)) for path in paths]
    logged_run = {
        "name": logged.info.run_name,
        "status": logged.info.status,
        "metrics": logged.data.metrics,
        "params": logged.data.params,
        "artifacts": {file.name: json.loads(file.read_text(encoding="utf-8")) for file in files},
    }
    print(json.dumps(logged_run))
