"""What every group of tables of the detector is given, and what it answers."""
from reproduces import logs
from reproduces.lab import Data, Run

HCRL, SET_03, ROAD = "hcrl_sa", "set_03", "road-masquerade"
BENIGN_ONLY = ("detector.use_labels=false",)


class Study:
    """`needs`: the data sets without which there is nothing to show; `always`: without --all, too; `minutes`: of what is
    done beside runs()."""
    name, title, needs, always, minutes = "", "", (HCRL, SET_03), True, 0

    def __init__(self, sets, seeds):
        self.sets, self.seeds = sets, seeds

    def runs(self):
        """What has to be made; a text needs nothing else."""
        raise NotImplementedError

    def text(self, lab):
        raise NotImplementedError

    def whole(self, name):
        """A data set as it is."""
        return Data(name, lambda lab, folder: logs.link_folders(self.sets[name], folder, ""), tuple(logs.sources_of(self.sets[name])))

    def of_seeds(self, data, name, options=()):
        return [Run(data, name, tuple(options), seed) for seed in self.seeds]

    def metrics(self, lab, data, name, options=()):
        return [lab.result(run).metrics for run in self.of_seeds(data, name, options)]
