# What ends the task: an output of its own kind, which is not only text that was printed.
def final_answer(answer):
    from IPython.display import display

    text = str(answer)
    display({"text/plain": text, "application/vnd.dsstar.answer+json": {"answer": text}}, raw=True)
