// Looks at the site of `scripts/docs --site DIR`, or at single pages as those of `kdgat report`, in Chromium from file://:
//
//   node scripts/site/check.mjs [--pictures DIR] SITE | PAGE.html ...
//
// at 1440, 768 and 390 px, light and dark. It fails where a page asks for anything that is no file of its own, is wider than
// the window, has an error in its console, or breaks a rule of axe-core that counts as serious; and where the search of the
// site finds nothing. --pictures keeps what was seen. Chromium is the system's (Debian: apt-get install chromium); without
// it nothing is checked. playwright-core and axe-core come from npm, the first time, into the cache folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const WIDTHS = [1440, 768, 390];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
  "--disable-default-apps", "--disable-sync", "--no-first-run"];

const words = process.argv.slice(2);
const at = words.indexOf("--pictures");
const pictures = at < 0 ? null : resolve(words.splice(at, 2)[1]);
if (words.length === 0) {
  console.error("usage: node scripts/site/check.mjs [--pictures DIR] SITE | PAGE.html ...");
  process.exit(2);
}
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!chromium) {
  console.log("site: not checked, there is no Chromium here");
  process.exit(0);
}

const modules = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "kdgat", "site-check");
if (!existsSync(join(modules, "node_modules", "axe-core"))) {
  mkdirSync(modules, { recursive: true });
  execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", modules, "playwright-core@1",
    "axe-core@4"], { stdio: "inherit" });
}
const require = createRequire(join(modules, "node_modules", "x.js"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

function pagesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith(".html") && name !== "404.html")  // which only a server shows
    .map((name) => join(path, name)).sort();
}

const problems = [];
const browser = await require("playwright-core").chromium.launch({ executablePath: chromium, args: FLAGS });

async function open(width, colorScheme, name) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const tell = (text) => problems.push(`${name}, ${width} px, ${colorScheme}: ${text}`);
  page.on("request", (request) => {
    if (!/^(file|data|blob|about):/.test(request.url())) tell(`asks for ${request.url()}`);
  });
  page.on("requestfailed", (request) => tell(`did not get ${request.url()}`));
  page.on("console", (message) => message.type() === "error" && tell(`console: ${message.text()}`));
  page.on("pageerror", (error) => tell(`script: ${error.message}`));
  return { context, page, tell };
}

let seen = 0;
for (const word of words) {
  const root = resolve(word);
  for (const file of pagesBelow(root)) {
    const name = relative(root, file) || basename(file);
    for (const width of WIDTHS) {
      for (const scheme of ["light", "dark"]) {
        const { context, page, tell } = await open(width, scheme, name);
        await page.goto(pathToFileURL(file).href);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) tell(`is ${wide} px wider than the window`);
        if (pictures) {
          mkdirSync(pictures, { recursive: true });
          const picture = `${name.replace(/\W+/g, "-")}-${width}-${scheme}.png`;
          await page.screenshot({ path: join(pictures, picture) });
        }
        ++seen;
        if (width === 768) {  // as one of the others, of which axe-core needs seconds
          await context.close();
          continue;
        }
        await page.evaluate(`${axe}; undefined`);
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
        for (const { id, impact, help, nodes } of found.violations) {
          if (!["serious", "critical"].includes(impact)) continue;
          tell(`${impact}: ${help} (${id}), ${nodes.length} times, as ${nodes[0].html.slice(0, 160)}`);
        }
        await context.close();
      }
    }
  }
  if (statSync(root).isDirectory()) {
    const { context, page, tell } = await open(1440, "light", "search");
    await page.goto(pathToFileURL(join(root, "index.html")).href);
    await page.locator("[data-md-component=search-query]").first().fill("memory");
    const hit = page.locator(".md-search-result__link").first();
    await hit.waitFor({ timeout: 20000 }).catch(() => tell("finds nothing for the word memory"));
    await context.close();
  }
}
await browser.close();
console.log(problems.length ? problems.join("\n") : `site: ${seen} views, nothing is wrong`);
process.exit(problems.length ? 1 : 0);
