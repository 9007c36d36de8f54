package bottest

// FaintTexts is a script for a browser. Its value lists the texts of a page that have less contrast
// than AA of WCAG 2 wants: 4.5, and 3 for large ones. It opens what is folded. A colour becomes
// numbers by a canvas, whatever form it has.
const FaintTexts = `(() => {
	const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d",
		{willReadFrequently: true});
	const seen = new Map();
	const numbers = colour => {
		if (!seen.has(colour)) {
			pen.clearRect(0, 0, 1, 1);
			pen.fillStyle = colour;
			pen.fillRect(0, 0, 1, 1);
			const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
			seen.set(colour, [r, g, b, a / 255]);
		}
		return seen.get(colour);
	};
	const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const grounds = new Map();
	const behind = e => {
		if (!e) return [255, 255, 255, 1];
		if (!grounds.has(e)) {
			const clear = e.closest("svg") && e.nodeName !== "svg";
			const own = clear ? [0, 0, 0, 0] : numbers(getComputedStyle(e).backgroundColor);
			grounds.set(e, own[3] === 1 ? own : over(own, behind(e.parentElement)));
		}
		return grounds.get(e);
	};
	const opacity = e => e ? getComputedStyle(e).opacity * opacity(e.parentElement) : 1;
	const light = c => c.slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
		.reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
	document.querySelectorAll("details").forEach(d => { d.open = true; });
	const bad = new Set();
	const judge = (e, colour, style, text) => {
		const [r, g, b, a] = numbers(colour), ground = behind(e);
		const [dark, bright] = [light(over([r, g, b, a * opacity(e)], ground)), light(ground)].sort((x, y) => x - y);
		const ratio = (bright + 0.05) / (dark + 0.05), size = parseFloat(style.fontSize);
		const large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		if (ratio >= (large ? 3 : 4.5)) return;
		bad.add(ratio.toFixed(2) + " " + colour + " " + e.nodeName + " " + text.slice(0, 40));
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement, style = getComputedStyle(e);
		if (!n.data.trim() || !e.getClientRects().length || ["SCRIPT", "STYLE", "title"].includes(e.nodeName)) continue;
		judge(e, e.closest("svg") ? style.fill : style.color, style, n.data.trim());
	}
	for (const e of document.querySelectorAll("td[data-l]")) {
		const style = getComputedStyle(e, "::before");
		if (style.content !== "none" && e.getClientRects().length) judge(e, style.color, style, e.dataset.l);
	}
	for (const e of document.querySelectorAll("input, select, button")) {
		const style = getComputedStyle(e);
		judge(e, style.color, style, e.name || e.textContent);
		if (e.placeholder) judge(e, getComputedStyle(e, "::placeholder").color, style, e.placeholder);
	}
	return [...bad].slice(0, 20).join("\n");
})()`
