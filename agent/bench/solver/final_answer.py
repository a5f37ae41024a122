# Ends the task. The output has its own MIME type, so printed text cannot be mistaken for it.
def final_answer(answer):
    from IPython.display import display

    text = str(answer)
    display({"text/plain": text, "application/vnd.dsstar.answer+json": {"answer": text}}, raw=True)
