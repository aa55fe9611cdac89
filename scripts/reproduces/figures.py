"""Numbers as the tables of the detector show them."""
import dataclasses
import math
import statistics

DETECTOR, RULE, OWN_RULE = "detector", "rule", "rule with own profile"
# That learn from no label.
UNLABELLED = (RULE, OWN_RULE, "published rule", "isolation forest", "isolation forest with own profile", "always attack")
METHODS = (DETECTOR, *UNLABELLED[:3], "boosted trees", *UNLABELLED[3:5], "id lookup", "always attack")
RULE_THRESHOLD = 0.5  # of the column `rule` of windows.csv


def short(value, digits=4):
    """.9983"""
    return f"{value:.{digits}f}".removeprefix("0")


def count(value):
    return f"{value:g}"


def over_seeds(values, form=short):
    """The median and, where they differ, from where to where."""
    values = list(values)
    middle = form(statistics.median(values))
    return middle if min(values) == max(values) else f"{middle} ({form(min(values))} to {form(max(values))})"


def bold_if(better, text):
    """What is better than the detector is bold."""
    return f"**{text}**" if better else text


def false_windows(runs):
    """Outside shadows and, in brackets, all; medians."""
    return " ".join([count(statistics.median(m["false_outside_shadows"] for m in runs)),
                     f"({count(statistics.median(m['false_windows'] for m in runs))})"])


def median_run(runs):
    """That of the seed with the median number of false windows."""
    return sorted(runs, key=lambda m: m["false_windows"])[len(runs) // 2]


def per_hour(m):
    """With its Poisson interval."""
    return f"{m['false_per_hour']:.0f} ({m['false_per_hour_low']:.0f} to {m['false_per_hour_high']:.0f})"


def attacks_found(m):
    return f"{m['events_found']} of {m['events']}"


def seconds(value):
    return "" if value is None else f"{value:.2f} s"


def part_of(metrics, prefix, group="parts"):
    """The methods of the part whose name begins so."""
    return next((methods for name, methods in metrics.get(group, {}).items() if name.startswith(prefix)), None)


def poisson_interval(events):
    """That holds the mean of a Poisson count with 95 % (Garwood 1936)."""
    def below(most, mean):
        """The probability of at most so many."""
        return sum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(most + 1))

    def where(most, probability):
        low, high = 1e-9, 4.0 * events + 20
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if below(most, middle) > probability else (low, middle)
        return low

    return (where(events - 1, .975) if events else 0.0), where(events, .025)


@dataclasses.dataclass
class Tally:
    """What one method flags of some windows of windows.csv."""
    found: int = 0
    missed: int = 0
    false: int = 0
    outside: int = 0  # of the false ones, those outside shadows

    @classmethod
    def of(cls, logs, flags):
        """`logs`: lists of rows; a shadow follows an attack window of the same log."""
        out = cls()
        for rows in logs:
            after_attack = False
            for row in rows:
                attack, flagged = row["label"] == "1", flags(row)
                out.found += attack and flagged
                out.missed += attack and not flagged
                out.false += flagged and not attack
                out.outside += flagged and not attack and not after_attack
                after_attack = attack
        return out

    def f1(self):
        return 2 * self.found / (2 * self.found + self.missed + self.false) if self.found else 0.0


def flagged_by_detector(row):
    return row["flagged"] == "1"


def flagged_by_rule(row):
    return float(row["rule"]) > RULE_THRESHOLD
