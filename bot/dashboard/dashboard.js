// The script of the dashboard. Pages are whole without it.
//  - It moves values: events sends objects {id: text}; the text of those elements changes, no
//    element is replaced. Texts of class "signed" take the colour of their sign.
//  - It shortens tables on a phone, and switches between light and dark.
//  - It draws the picture of a market anew: for links with data-chart and drags over the picture, and
//    every five seconds where the picture ends now.
"use strict";

(() => {
	const root = document.documentElement;

	// The theme: that of the machine, light or dark. The browser keeps it.
	const themes = ["auto", "light", "dark"];
	function wear(theme) {
		if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
	}
	let theme = "auto";
	try { theme = localStorage.getItem("theme") ?? "auto"; } catch { /* the browser keeps nothing */ }
	wear(themes.includes(theme) ? theme : "auto");
	function switchTheme() {
		const place = document.querySelector("nav[aria-label=Pages]"), button = document.createElement("button");
		if (!place) return;
		const show = () => { button.textContent = "Theme: " + (root.dataset.theme ?? "auto"); };
		button.type = "button";
		button.className = "theme";
		button.addEventListener("click", () => {
			const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % themes.length];
			wear(next);
			try { localStorage.setItem("theme", next); } catch { /* it holds for this page */ }
			show();
		});
		show();
		place.append(button);
	}

	// A long table shows its first rows on a phone, and a button for the others.
	const shortRows = 6;
	function shorten(within) {
		for (const table of within.querySelectorAll("table.stack")) {
			const rows = table.tBodies[0].rows.length;
			if (rows <= shortRows || table.dataset.whole) continue;
			const button = document.createElement("button");
			table.classList.add("short");
			button.type = "button";
			button.className = "more";
			button.textContent = "All " + rows;
			button.addEventListener("click", () => { table.classList.remove("short"); button.remove(); });
			table.after(button);
		}
	}

	function move(id, text) {
		const cell = document.getElementById(id);
		if (!cell || cell.textContent === text) return;
		cell.textContent = text;
		if (id === "top-alarm") { cell.hidden = text === ""; return; }
		if (cell.classList.contains("signed")) {
			cell.classList.toggle("up", text.startsWith("+"));
			cell.classList.toggle("down", text.startsWith("-"));
		}
		if (id === "top-feed" || id.startsWith("feed/")) return; // ages change each second
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

	// The page of a market is asked for again, for another time or for now. Picture, text, tables and
	// links take the place of those shown. The newest request counts: older answers are dropped.
	const narrow = matchMedia("(max-width:720px)");
	let newest = 0;
	async function draw(figure, query, silent) {
		const mine = ++newest, legend = document.getElementById("legend");
		const size = narrow.matches ? "narrow" : "wide";
		query.set("width", size === "wide" ? "1120" : "400");
		if (!silent) figure.setAttribute("aria-busy", "true");
		legend.setAttribute("aria-live", silent ? "off" : "polite");
		try {
			const answer = await fetch("market?" + query), text = await answer.text();
			if (mine !== newest) return;
			const page = new DOMParser().parseFromString(text, "text/html"), fresh = page.querySelector("figure.market");
			if (!fresh) { legend.textContent = page.querySelector("main p")?.textContent ?? text; return; }
			for (const name of ["wide", "narrow"])
				figure.querySelector("." + name).replaceWith(fresh.querySelector("." + name));
			Object.assign(figure.dataset, fresh.dataset);
			if (!("latest" in fresh.dataset)) delete figure.dataset.latest;
			legend.textContent = page.getElementById("legend").textContent;
			tables(page.getElementById("tables"));
			for (const link of page.querySelectorAll("a[data-chart]"))
				for (const old of document.querySelectorAll("a[data-chart]"))
					if (old.textContent === link.textContent) old.setAttribute("href", link.getAttribute("href"));
			query.delete("width");
			history.replaceState(null, "", "market?" + query);
			figure.dispatchEvent(new Event("drawn"));
			window.tidemark.focusable(figure);
			window.tidemark.again();
		} catch {
			legend.textContent = "No answer from the dashboard: the picture stands still.";
		} finally {
			if (mine === newest) figure.removeAttribute("aria-busy");
		}
	}

	// Tables stay while a reader is in them: at a link, or with a part selected.
	function tables(fresh) {
		const old = document.getElementById("tables"), chosen = getSelection();
		if (old.contains(document.activeElement) || !chosen.isCollapsed && old.contains(chosen.anchorNode)) return;
		if (old.dataset.shown === fresh.innerHTML) return;
		old.dataset.shown = fresh.innerHTML;
		const whole = [...old.querySelectorAll("table.stack")].map(t => !t.classList.contains("short"));
		shorten(fresh);
		[...fresh.querySelectorAll("table.short")].forEach((t, i) => { if (whole[i]) t.nextSibling.click(); });
		old.replaceChildren(...fresh.childNodes);
	}

	// The time that the picture shows, as a question.
	function shownTime(figure) {
		const {market, interval, from, to} = figure.dataset, query = new URLSearchParams({market, interval});
		if ("latest" in figure.dataset) query.set("long", to - from);
		else { query.set("from", from); query.set("to", to); }
		return query;
	}

	function ask(figure, from, to) {
		const {market, interval} = figure.dataset, query = new URLSearchParams({market, interval});
		query.set("from", Math.max(0, Math.round(from)));
		query.set("to", Math.round(Math.max(to, from + 60000)));
		return draw(figure, query);
	}

	// A picture that ends now is drawn again every five seconds, while it is looked at and the bot
	// runs. A button holds it still; those who want less motion begin with a still one.
	const dragged = figure => figure.querySelector(".part") !== null;
	function follow(figure) {
		const button = document.createElement("button");
		let still = matchMedia("(prefers-reduced-motion:reduce)").matches;
		const show = () => {
			button.hidden = !("latest" in figure.dataset);
			button.textContent = still ? "Move" : "Hold still";
		};
		button.type = "button";
		button.addEventListener("click", () => {
			still = !still;
			show();
			if (!still) draw(figure, shownTime(figure), true);
		});
		figure.addEventListener("drawn", show);
		document.querySelector(".zooms").append(button);
		show();
		setInterval(() => {
			const halted = still || button.hidden || document.hidden || dragged(figure);
			if (halted || !document.getElementById("lost").hidden || figure.hasAttribute("aria-busy")) return;
			if (document.getElementById("top-state").textContent !== "stopped") draw(figure, shownTime(figure), true);
		}, 5000);
		narrow.addEventListener("change", () => draw(figure, shownTime(figure), true));
	}

	function zoom(figure) {
		for (const link of document.querySelectorAll("a[data-chart]"))
			link.addEventListener("click", event => {
				event.preventDefault();
				draw(figure, new URLSearchParams(link.search));
			});
		const band = document.createElement("div");
		band.className = "part";
		let start = null;
		// place is where the candles lie, in pixels of the window; part is a place in them, 0 to 1.
		const place = () => {
			const shown = figure.querySelector(narrow.matches ? ".narrow" : ".wide"), box = shown.getBoundingClientRect();
			const left = box.left + box.width * shown.dataset.left;
			return [left, box.left + box.width * shown.dataset.right - left];
		};
		const part = event => {
			const [left, width] = place();
			return Math.min(1, Math.max(0, (event.clientX - left) / width));
		};
		figure.addEventListener("pointerdown", event => { if (event.button === 0) start = part(event); });
		figure.addEventListener("pointermove", event => {
			if (start === null) return;
			const [low, high] = [start, part(event)].sort((a, b) => a - b), [left, width] = place();
			figure.append(band);
			band.style.left = left + low * width - figure.getBoundingClientRect().left + "px";
			band.style.width = (high - low) * width + "px";
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

	switchTheme();
	shorten(document);
	if (document.getElementById("lost")) listen(); // pages of files have no bot
	const figure = document.querySelector("figure.market");
	if (figure) { zoom(figure); follow(figure); }
	root.dataset.ready = "yes";
})();
