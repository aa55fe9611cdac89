// The search of the site runs in a Worker, and no browser starts one from file://. There a frame takes its place: the
// script runs in it, and messages go between it and the page. Elsewhere nothing is changed.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source !== inside) return;
        const told = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(told);
        if (this.onmessage) this.onmessage(told);
      });
      const script = (path) => `<script src="${encodeURI(path)}"><\/script>`;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }));
      inside.document.open();
      inside.document.write(`<!doctype html><html lang="en"><title>search</title><body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...paths) => paths.reduce((before, path) => before.then(() => new Promise((resolve, reject) => {
          const script = document.createElement("script");
          Object.assign(script, { src: path, onload: resolve, onerror: reject });
          document.body.append(script);
        })), Promise.resolve());
      <\/script>${script(String(url))}</body></html>`);
      inside.document.close();
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
