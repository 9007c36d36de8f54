// The script of the dashboard. Pages are whole without it.
//  - It moves values: events sends objects {id: text}; the text of those elements changes, no
//    element is replaced. Texts of class "signed" take the colour of their sign.
//  - It zooms the picture of a market: links with data-chart, and drags over the picture, fetch
//    chart.svg anew.
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

	// The newest request counts: an answer to an older one is dropped.
	let latest = 0;
	async function draw(figure, query) {
		const mine = ++latest, shown = [...figure.children].find(e => e.offsetParent !== null);
		const says = document.getElementById("chart-status");
		if (!shown) return;
		query.set("width", shown.className === "wide" ? "1120" : "400");
		figure.setAttribute("aria-busy", "true");
		try {
			const answer = await fetch("chart.svg?" + query), text = await answer.text();
			if (mine !== latest) return;
			if (!answer.ok) { says.textContent = text; return; }
			const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
			if (svg.nodeName !== "svg") return;
			shown.replaceChildren(document.importNode(svg, true));
			figure.dataset.from = query.get("from");
			figure.dataset.to = query.get("to");
			says.textContent = clock(figure.dataset.from) + " to " + clock(figure.dataset.to) + " UTC";
			query.delete("width");
			history.replaceState(null, "", "market?" + query);
		} catch {
			says.textContent = "no answer from the dashboard";
		} finally {
			if (mine === latest) figure.removeAttribute("aria-busy");
		}
	}

	const clock = ms => new Date(+ms).toISOString().slice(0, 19).replace("T", " ");

	function ask(figure, from, to) {
		const query = new URLSearchParams({market: figure.dataset.market, interval: figure.dataset.interval});
		query.set("from", Math.max(0, Math.round(from)));
		query.set("to", Math.round(Math.max(to, from + 60000)));
		return draw(figure, query);
	}

	// A link moves from the time that is shown now, which a drag may have changed since.
	function follow(figure, link) {
		const from = +figure.dataset.from, to = +figure.dataset.to, long = to - from, middle = (from + to) / 2;
		switch (link.textContent) {
		case "Zoom in": return ask(figure, middle - long / 4, middle + long / 4);
		case "Zoom out": return ask(figure, middle - long, middle + long);
		case "Earlier": return ask(figure, from - long / 2, to - long / 2);
		case "Later": return ask(figure, from + long / 2, to + long / 2);
		}
		return draw(figure, new URLSearchParams(link.search));
	}

	function zoom(figure) {
		for (const link of document.querySelectorAll("a[data-chart]"))
			link.addEventListener("click", event => { event.preventDefault(); follow(figure, link); });
		const band = document.createElement("div");
		band.className = "part";
		let start = null;
		const part = event => {
			const box = figure.getBoundingClientRect();
			return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
		};
		figure.addEventListener("pointerdown", event => { if (event.button === 0) start = part(event); });
		figure.addEventListener("pointermove", event => {
			if (start === null) return;
			const [low, high] = [start, part(event)].sort((a, b) => a - b);
			figure.append(band);
			band.style.left = low * 100 + "%";
			band.style.width = (high - low) * 100 + "%";
		});
		const end = () => { start = null; band.remove(); };
		figure.addEventListener("pointerup", event => {
			if (start === null) return;
			const [low, high] = [start, part(event)].sort((a, b) => a - b);
			end();
			const from = +figure.dataset.from, long = figure.dataset.to - from;
			if (high - low > 0.02) ask(figure, from + low * long, from + high * long);
		});
		figure.addEventListener("pointercancel", end);
		figure.addEventListener("pointerleave", end);
	}

	if (document.getElementById("lost")) listen(); // pages of files have no bot
	const figure = document.querySelector("figure.market");
	if (figure) zoom(figure);
	root.dataset.ready = "yes";
})();
