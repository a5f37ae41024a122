"""Runs the benchmarks' public scorers, from checkouts of their repositories, over cases on stdin.

Called by TestPublicScorers with the folder of the checkouts; the models that judge paraphrases are replaced by a rule.
"""

import contextlib
import importlib.util
import io
import json
import os
import sys
import types
import warnings
from unittest import mock

warnings.simplefilter("ignore")
root, which = sys.argv[1:3]


def judge(said, gold):
    """What the test's own judge says: both texts have the same number of vowels."""
    count = lambda s: sum(c in "aeiou" for c in str(s).lower())
    return count(said) == count(gold)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dabstep(cases):
    scorer = load(os.path.join(root, "dabstep", "scorer.py"), "scorer").question_scorer
    return [bool(scorer(a, b)) for a, b in cases]


def kramabench(cases, folder, later):
    sys.path.insert(0, os.path.join(root, folder))
    tools = types.ModuleType("benchmark.llm_tools")

    class GPTInterface:
        def __init__(self, *args, **kwargs):
            pass

        def evaluate_paraphrase(self, said, gold):
            return (judge(said, gold), 0, 0, 0) if later else judge(said, gold)
    tools.GPTInterface = tools.LLMInterface = tools.OllamaInterface = GPTInterface
    for name in ("openai", "ollama", "dotenv", "typeguard"):
        sys.modules.setdefault(name, mock.MagicMock())
    package = types.ModuleType("benchmark")
    package.__path__ = [os.path.join(root, folder, "benchmark")]
    package.Benchmark = None
    sys.modules.update({"benchmark": package, "benchmark.llm_tools": tools})
    import pandas as pd
    module = importlib.import_module("benchmark.benchmark")
    evaluator = object.__new__(module.Evaluator)
    aggregate = load(os.path.join(root, folder, "evaluate.py"), "evaluate").aggregate_results
    with open(
        os.path.join(root, folder, "benchmark", "fixtures", "answer_type_fixtures.json")
    ) as f:
        metrics = {t["name"]: t["metrics"] for t in json.load(f)}
    rows = []
    for i, (kind, said, gold) in enumerate(cases):
        for metric in metrics[kind]:
            score = evaluator.evaluate_response_with_metric(str(i), {"answer": said}, gold, metric)
            rows.append({"sut": "s", "workload": f"{i:06d}", "task_id": str(i), "metric": metric,
                         "value": score[0] if later else score})
    df = pd.DataFrame(rows)
    df["value"] = df["value"].astype(float)
    totals = aggregate("s", df)
    counted = (["success", "llm_paraphrase", "rae_score", "f1", "f1_approximate"] if later
               else ["success", "string_bootstrap", "rae_score", "f1", "f1_approximate"])
    scores = [None] * len(cases)
    for _, row in totals.iterrows():
        if row["metric"] in counted:
            value = row["value_mean"] if row["value_support"] else 0.0
            scores[int(str(row["workload"]).split(".")[0])] = (
                float(value) if value == value else 0.0
            )
    return scores


def dabench(cases):
    folder = os.path.join(root, "InfiAgent", "examples", "DA-Agent")
    sys.modules["utils"] = mock.MagicMock()
    sys.modules["utils.utils"] = mock.MagicMock()
    module = load(os.path.join(folder, "eval_closed_form.py"), "eval_closed_form")
    labels = [{"id": i, "common_answers": gold} for i, (said, gold) in enumerate(cases)]
    responses = [{"id": i, "response": said} for i, (said, gold) in enumerate(cases)]
    results = module.evaluate_responses(labels, responses)
    fields = {r["id"]: r["correctness"] for r in results}
    return {"fields": [fields.get(i) for i in range(len(cases))], "totals": [
        module.evaluate_accuracy_by_question(results),
        module.evaluate_accuracy_proportional_by_sub_question_adjusted(results),
        module.evaluate_accuracy_by_sub_question(results)]}


def dacode(cases):
    sys.path.insert(0, os.path.join(root, "da-code"))
    for name in ("duckdb", "yaml", "requests", "docker"):
        sys.modules.setdefault(name, mock.MagicMock())
    sys.modules["da_agent.envs"] = types.ModuleType("da_agent.envs")
    sys.modules["da_agent.envs"].__path__ = [os.path.join(root, "da-code", "da_agent", "envs")]
    from da_agent.evaluators.evaluation import Evaluator
    evaluator = Evaluator(output_dir=cases["output"], gold_dir=cases["gold"], timeout_seconds=600)
    return {r["id"]: float(r["total_score"]) for r in evaluator.evaluate(cases["evals"])}


def main():
    cases = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()), open(
        os.devnull, "w"
    ) as null, contextlib.redirect_stderr(null):
        if which == "dabstep":
            result = dabstep(cases)
        elif which == "kramabench-june":
            result = kramabench(cases, "Kramabench-june", later=False)
        elif which == "kramabench":
            result = kramabench(cases, "Kramabench", later=True)
        elif which == "dabench":
            result = dabench(cases)
        else:
            result = dacode(cases)
    print(json.dumps(result))


main()
