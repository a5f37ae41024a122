# Imports the modules of dsstar_profile from their sources, once per process.
if "dsstar_profile" not in sys.modules:
    import importlib.abc
    import importlib.util

    class _Loader(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
        sources, spec = _sources, staticmethod(importlib.util.spec_from_loader)

        def find_spec(self, name, path=None, target=None):
            return self.spec(name, self) if name in self.sources else None

        def get_source(self, name):
            return self.sources[name]

        def is_package(self, name):
            return name == "dsstar_profile"

    sys.meta_path.insert(0, _Loader())
    for _name in _sources:
        importlib.import_module(_name)

