import parpy


def call():
    parpy.compile_string("f", 'extern "C" int f() { return 0; }')
