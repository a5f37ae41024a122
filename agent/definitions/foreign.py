def main(packed):
    print('{"problem": "definitions are read from Markdown only"}')
