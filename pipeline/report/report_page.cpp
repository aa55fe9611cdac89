// The page around the sections of a report: head, style, contents, foot.
#include <algorithm>

#include "pipeline/report/report_html.h"
#include "pipeline/report/report_sections.h"
#include "pipeline/run/plan.h"
#include "pipeline/show/markdown.h"
#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

// Nothing may be fetched, and no script runs, whatever the texts of a run hold.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
)";

constexpr const char* kStyle = R"(
:root{--ink:#1b2026;--muted:#56616d;--ground:#fff;--soft:#f4f6f9;--line:#dde2e8;--good:#00694a;--bad:#a8211b;--warn:#7a4d00;--link:#0b5cad}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:24px 24px 48px;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:0 0 10px}
h3{font-size:1rem;margin:22px 0 6px;overflow-wrap:anywhere}
section{margin-top:34px;padding-top:16px;border-top:1px solid var(--line)}
p{margin:6px 0;overflow-wrap:anywhere}
a{color:var(--link)}
nav{margin:14px 0 0;display:flex;flex-wrap:wrap;gap:4px 16px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 16px;margin:14px 0 0}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
code,pre{font:.87em/1.45 ui-monospace,Menlo,Consolas,monospace}
pre{margin:6px 0;padding:10px 12px;background:var(--soft);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
.muted{color:var(--muted)}
.state{display:inline-block;padding:0 9px;border:1px solid currentColor;border-radius:99px;font-size:.8rem;font-weight:600;line-height:1.6;vertical-align:3px;white-space:nowrap}
td .state{vertical-align:0}
.done{color:var(--good)}.failed{color:var(--bad)}.interrupted,.running,.skipped{color:var(--warn)}.kept,.pending{color:var(--muted)}
.nowrap{white-space:nowrap}
.tiles{display:flex;flex-wrap:wrap;gap:10px;margin:16px 0 0}
.tile{flex:1 1 120px;padding:8px 14px;background:var(--soft);border-radius:8px}
.tile b{display:block;font-size:1.4rem;line-height:1.3}
.tile span{color:var(--muted);font-size:.85rem;overflow-wrap:anywhere}
.fault{margin:10px 0;padding:10px 14px;border-left:4px solid var(--bad);background:var(--soft)}
.fault h3{margin:0 0 4px}
.notice{margin:10px 0;padding:8px 14px;border-left:4px solid var(--warn);background:var(--soft)}
.scroll{overflow-x:auto;margin:8px 0}
table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;color:var(--muted);padding-bottom:4px}
caption span{display:inline-block;max-width:min(46em,calc(100vw - 48px))}
th,td{padding:4px 16px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:400}
thead th{color:var(--muted);font-size:.82rem;vertical-align:bottom;white-space:nowrap}
.n{text-align:right;white-space:nowrap}
.name{display:inline-block;min-width:6em;max-width:13em;white-space:normal;overflow-wrap:anywhere}
.why{min-width:15em;max-width:30em;overflow-wrap:anywhere}
.best{font-weight:700}
.bar{width:110px;height:9px;margin-right:8px;vertical-align:0}
.time{white-space:nowrap}
.heat td,.heat tbody th{border:0;padding:5px 12px}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:18px 32px}
.cells{display:flex;flex-wrap:wrap;gap:6px 40px}
figure{margin:6px 0 0;min-width:0}
figcaption{font-size:.87rem;color:var(--muted);overflow-wrap:anywhere}
figcaption b{color:var(--ink)}
.chart{display:block;width:100%;height:auto}
.wide .chart{min-width:680px}
details{margin:8px 0}
summary{cursor:pointer;color:var(--link)}
.letter{display:inline-block;min-width:1.6em;text-align:center;border-radius:5px;background:var(--soft);font-weight:700}
footer{margin-top:44px;padding-top:12px;border-top:1px solid var(--line);color:var(--muted);font-size:.85rem;overflow-wrap:anywhere}
@media (max-width:600px){body{padding:14px 14px 32px}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:6px}.grid{grid-template-columns:1fr}th,td{padding-right:12px}tbody th{min-width:7.5em}.tile{flex-basis:40%}caption span{max-width:calc(100vw - 28px)}}
)";

constexpr const char* kDark = R"(
:root{--ink:#e8eaed;--muted:#a5aeb8;--ground:#15191f;--soft:#1e242c;--line:#343b44;--good:#5bd6a4;--bad:#ff8f86;--warn:#f0bb5e;--link:#7cbcff}
)";

constexpr const char* kPrint = R"(
@page{margin:13mm}
body{max-width:none;padding:0;font-size:10pt;background:#fff;color:#000}
nav,footer a{display:none}
.scroll{overflow:visible}
.wide .chart{min-width:0}
table{font-size:7pt}
th,td{padding-right:8px;white-space:normal;overflow-wrap:break-word}
.n{white-space:nowrap}
thead th,thead .n{font-size:6.5pt;white-space:normal}
.why{min-width:0}
.bar{width:60px}
.grid{grid-template-columns:1fr 1fr}
figure,tr,.tile,.fault,dl{break-inside:avoid}
h1,h2,h3,caption,figcaption{break-after:avoid}
section{margin-top:16px}
svg,rect,td,.tile,.fault,pre{print-color-adjust:exact;-webkit-print-color-adjust:exact}
)";

/// Light is what is printed; dark is for screens that ask for it.
std::string style() {
  return element("style", kStyle + chart_style() +
                              "\n@media screen and (prefers-color-scheme:dark){" + kDark +
                              chart_style(true) + "}\n@media print{" + kPrint + "}\n");
}

struct Part {
  const char* id;
  const char* title;
  std::string (*make)(const ReportRun& run, const std::string& id);
  bool is_short =
      false;  ///< stands in a comparison, too: other parts are what a report of one run is for
};

constexpr Part kParts[] = {{"failures", "Failures", failures_section, true},
                           {"warnings", "Warnings", warnings_section, true},
                           {"sweep", "Sweep", sweep_section},
                           {"figures", "Figures of each step", figures_section},
                           {"deltas", "Against teachers, ablations and baselines", deltas_section},
                           {"results", "Results", results_section, true},
                           {"windows", "Models and baselines", windows_section},
                           {"steps", "Steps", steps_section, true},
                           {"training", "Training", training_section},
                           {"detection", "Detection", detection_section},
                           {"memory", "Memory", memory_section},
                           {"options", "Options", options_section, true},
                           {"data", "Data", data_section}};

/// Links to the sections of a run, and the sections.
std::string sections(const ReportRun& run, const std::string& prefix, bool is_short = false) {
  std::string links, out;
  for (const Part& part : kParts) {
    if (is_short && !part.is_short) continue;
    const std::string id = prefix + part.id;
    const std::string inner = part.make(run, id);
    if (inner.empty()) continue;
    links += element("a", part.title, "href=\"#" + id + "\"") + "\n";
    out += section(id, part.title, inner);
  }
  const std::string of = run.record.id.empty() ? "" : " of " + escaped(short_run(run.record.id));
  return element("nav", links, "aria-label=\"sections" + of + "\"") + out;
}

std::string heading(const ReportRun& run) {
  return escaped(run.record.profile.empty() ? run.record.dataset : run.record.profile) + " " +
         badge(run.record.state);
}

}  // namespace

std::string section(const std::string& id, const std::string& title, const std::string& inner) {
  if (inner.empty()) return "";
  return "<section id=\"" + id + "\">\n" + element("h2", title) + "\n" + inner + "</section>\n";
}

std::string report_html(const std::vector<ReportRun>& runs, const std::string& made,
                        const std::string& notes) {
  std::string names, body;
  for (const ReportRun& run : runs) {
    names += (names.empty() ? "" : ", ") + short_run(run.record.id);
  }
  if (runs.size() == 1) {
    body =
        element("h1", heading(runs.front())) + run_facts(runs.front()) + sections(runs.front(), "");
  } else {
    const std::string over_seeds = seeds_section(runs);
    const bool is_one_group = !runs.front().group.empty() &&
                              std::all_of(runs.begin(), runs.end(), [&](const ReportRun& run) {
                                return run.group == runs.front().group;
                              });
    body = element("h1", is_one_group ? escaped(runs.front().record.profile) + " over " +
                                            std::to_string(runs.size()) + " seeds"
                                      : std::to_string(runs.size()) + " runs compared") +
           over_seeds + compare_sections(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string name = element("span", letter(i), "class=\"letter\"") + " ";
      body += "<section id=\"" + letter(i) + "\">" + element("h2", name + heading(runs[i])) +
              run_facts(runs[i]) +
              details("Results, steps and options of run " + letter(i),
                      sections(runs[i], letter(i) + "-", true)) +
              element("p",
                      "Curves, decisions, memory and data: " +
                          element("code", "kdgat report " + escaped(short_run(runs[i].record.id))),
                      "class=\"muted\"") +
              "</section>";
    }
  }
  return kHead +
         element("title", escaped((runs.size() == 1 ? "kdgat run " : "kdgat runs ") + names)) +
         "\n" + style() + "\n</head>\n<body>\n" +
         element("main", section("notes", "Notes", markdown_html(notes, 3)) + body) +
         element("footer", "Made by kdgat " KDGAT_VERSION ", " + escaped(made)) +
         "\n</body>\n</html>\n";
}

}  // namespace kdgat
