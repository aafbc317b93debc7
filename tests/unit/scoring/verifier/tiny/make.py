"""Makes the model of these tests anew, beside this file: ``python make.py``; needs onnx and tokenizers.

Each word has three numbers, and the logits are their sums: "yes" adds to supported, "no" to contradicted,
"perhaps" to absent, and other words nothing.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers, processors

FOLDER = Path(__file__).parent
WORDS = ("<unk>", "<s>", "</s>", "yes", "no", "perhaps")
LOGITS = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]

nodes = [
    helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
    helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
    helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
    helper.make_node("Mul", ["vectors", "wide"], ["masked"]),
    helper.make_node("ReduceSum", ["masked", "tokens"], ["logits"], keepdims=0),
]
inputs = [
    helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
    for name in ("input_ids", "attention_mask")
]
constants = [
    numpy_helper.from_array(np.array(LOGITS, np.float32), "table"),
    numpy_helper.from_array(np.array([2]), "last"),
    numpy_helper.from_array(np.array([1]), "tokens"),
]
outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", 3])]
graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
save(
    helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
    str(FOLDER / "model.onnx"),
)

tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.post_processor = processors.TemplateProcessing(
    single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
)
tokenizer.save(str(FOLDER / "tokenizer.json"))
