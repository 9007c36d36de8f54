// The script of the dashboard. Pages are whole without it. It moves values: events sends objects
// {id: text}; the text of those elements changes, no element is replaced. Texts of class "signed"
// take the colour of their sign.
"use strict";

(() => {
	const root = document.documentElement;

	function move(id, text) {
		const cell = document.getElementById(id);
		if (!cell || cell.textContent === text) return;
		cell.textContent = text;
		if (id === "top-alarm") { cell.hidden = text === ""; return; }
		if (cell.classList.contains("signed")) {
			cell.classList.toggle("up", text.startsWith("+"));
			cell.classList.toggle("down", text.startsWith("-"));
		}
		cell.classList.remove("moved");
		requestAnimationFrame(() => cell.classList.add("moved"));
	}

	function listen() {
		const lost = document.getElementById("lost"), source = new EventSource("events");
		const take = event => {
			lost.hidden = true;
			for (const [id, text] of Object.entries(JSON.parse(event.data))) move(id, String(text));
		};
		source.addEventListener("message", take);
		source.addEventListener("cells", take);
		source.addEventListener("lost", () => { lost.hidden = false; });
		source.onerror = () => {
			lost.hidden = false;
			if (source.readyState === EventSource.CLOSED) { setTimeout(listen, 1000); }
		};
		addEventListener("pagehide", () => source.close());
	}

	if (document.getElementById("lost")) listen(); // pages of files have no bot
	root.dataset.ready = "yes";
})();
