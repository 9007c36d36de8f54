package stats

// Figure is a figure of this package that a reader gets. The zero value is none.
type Figure int

// The figures, in the order of a report.
const (
	FigureSharpe Figure = iota + 1
	FigureError
	FigureExcess
	FigureP
	FigureMinTRL
	FigureDetectable
	FigureBar
	FigureExpectedBest
	FigureDSR
	FigureSPA
	FigureRealityCheck
	FigurePlacebo
	FigurePBO
	FigureSlope
	FigureLoss
	FigureRank
	FigureAdjusted
	FigurePlateau
	FigureImportance
	FigureBlock
	FigureTries
	FigureEfficiency
	FigureShare
	FigureDifference
	FigureEvidence
	FigureNotice
	figures
)

// Explanation says what a figure means. Its sentences are complete and have no number in them, so
// that terminal, page and document can print them beside any value.
type Explanation struct {
	Name      string   // as in a table
	Functions []string // of this package that compute it
	Source    string   // author, year and title
	Says      string
	SaysNot   string
}

// Explain is the explanation of a figure; empty for one that there is not.
func Explain(f Figure) Explanation {
	if f < 1 || f >= figures {
		return Explanation{}
	}
	return explanations[f]
}

// Figures are all figures, in the order of a report.
func Figures() []Figure {
	all := make([]Figure, 0, figures-1)
	for f := Figure(1); f < figures; f++ {
		all = append(all, f)
	}
	return all
}

var explanations = [figures]Explanation{
	FigureSharpe: {"Sharpe ratio", []string{"Sharpe", "TrackRecordOf", "Annual", "LoFactor", "Autocorrelation"},
		"Sharpe 1994, The Sharpe Ratio; Lo 2002, The Statistics of Sharpe Ratios",
		"The mean daily return divided by its standard deviation, times √365.",
		"It does not say how many sets were tried, nor how deep the equity fell on the way."},
	FigureError: {"standard error", []string{"SharpeError"},
		"Lo 2002, The Statistics of Sharpe Ratios",
		"About two of three records of this length have a Sharpe ratio within one standard error of the true one.",
		"It does not hold for the best of many records, which was chosen because it is high."},
	FigureExcess: {"in excess of a hold", []string{"Excess"},
		"our own choice: PSR, DSR and SPA ask whether a mean is above zero",
		"The return minus that of a hold with the same average exposure and the same costs: what the timing earned.",
		"It does not say that the strategy earned anything: in a falling market a smaller loss is an excess."},
	FigureP: {"p, 1 − PSR", []string{"TrackRecord.PSR", "TrackRecord.P", "TrackRecord.PSR2012", "TrackRecord.Variance"},
		"López de Prado, Lipton & Zoonekynd 2026, How to Use the Sharpe Ratio",
		"So large a share of records of this length without any edge show a Sharpe ratio at least as high.",
		"It does not say how likely an edge is, and it holds only for a set fixed before its record was seen."},
	FigureMinTRL: {"minimum track record", []string{"TrackRecord.MinTRL", "TrackRecord.MinTRL2012"},
		"Bailey & López de Prado 2012, The Sharpe Ratio Efficient Frontier",
		"So many days like these would make the record of one fixed set significant.",
		"It does not say that the days to come will be like these."},
	FigureDetectable: {"smallest edge that can be found", []string{"Detectable", "DetectableBest",
		"Superior.Detectable"},
		"Lo 2002, The Statistics of Sharpe Ratios: the test's power",
		"A strategy needs this true Sharpe ratio to be found on data of this length in four of five cases.",
		"A smaller edge may be there: data of this length mostly cannot show it."},
	FigureBar: {"the bar of luck", []string{"Bar", "ShareAbove"},
		"the distribution of the maximum of independent normal numbers",
		"The best of so many worthless sets shows a higher Sharpe ratio in only five of a hundred searches.",
		"It does not say that a winner above it has an edge; below it, the winner cannot be told from luck."},
	FigureExpectedBest: {"expected best of worthless sets", []string{"ExpectedMax", "ExpectedBest"},
		"Bailey, Borwein, López de Prado & Zhu 2014, Pseudo-Mathematics and Financial Charlatanism",
		"The best of so many worthless sets shows this Sharpe ratio on average.",
		"It is no bar: more than forty of a hundred searches on worthless data show more."},
	FigureDSR: {"p of the winner, 1 − DSR", []string{"DSR"},
		"Bailey & López de Prado 2014, The Deflated Sharpe Ratio",
		"A small value: the best of as many worthless tries that vary as much hardly shows such a record.",
		"A large value does not say that the winner is worthless: the test is cautious and misses weak edges."},
	FigureSPA: {"p of the search (SPA)", []string{"SPA", "Superior.PValueOf"},
		"Hansen 2005, A Test for Superior Predictive Ability",
		"So large a share of searches on worthless data, with sets this alike, have a best set as good or better.",
		"It does not say which set has the edge, nor that the edge will last; unrecorded tries do not count."},
	FigureRealityCheck: {"p of the search (reality check)", []string{"SPA"},
		"White 2000, A Reality Check for Data Snooping",
		"As the p of SPA, but every bad set raises it.",
		"A large value does not say that the search found nothing: sets that lose much hide one that earns."},
	FigurePlacebo: {"p of the search (placebo)", []string{"PValue"},
		"Wu 1986, Jackknife, Bootstrap and Other Resampling Methods: the wild bootstrap; our own use for searches",
		"So large a share of the same searches on surrogates of the data, with nothing to find, do as well or better.",
		"It does not say that an edge will last; a single long trend in the data counts as one."},
	FigurePBO: {"overfitting (PBO)", []string{"PBO"},
		"Bailey, Borwein, López de Prado & Zhu 2017, The Probability of Backtest Overfitting",
		"In so large a share of splits, the winner of one half of the days is below the median set in the other half.",
		"Luck alone gives about one half, with a wide spread; a small value does not say that anything earns."},
	FigureSlope: {"slope of the halves", []string{"PBO"},
		"Bailey, Borwein, López de Prado & Zhu 2017, The Probability of Backtest Overfitting",
		"By so much the winner's Sharpe ratio in the other half rises when that in its own half rises by one.",
		"A negative slope is no proof of overfitting: two halves of one record always pull against each other."},
	FigureLoss: {"losses out of sample", []string{"PBO"},
		"Bailey, Borwein, López de Prado & Zhu 2017, The Probability of Backtest Overfitting",
		"In so large a share of splits, the winner of one half loses money in the other half.",
		"It does not say how much it loses; and in a rising market worthless sets earn, too."},
	FigureRank: {"rank correlation of the halves", []string{"RankCorrelation"},
		"Spearman 1904, The Proof and Measurement of Association between Two Things",
		"One: the sets have the same order in both halves of the days; zero: the order of one says nothing of the " +
			"other.",
		"It does not say that the best sets earn: sets that are always bad have a lasting order, too."},
	FigureAdjusted: {"adjusted p", []string{"Bonferroni", "Holm", "BHY"},
		"Holm 1979; Benjamini & Yekutieli 2001, The Control of the False Discovery Rate",
		"The p of one set, raised for the number of sets that were tested with it.",
		"A large value does not say that the set is worthless: sets that are alike are punished as if they differed."},
	FigurePlateau: {"plateau", []string{"PlateauOf", "Hills"},
		"our own definition",
		"So large a part of the winner's lead over the median set belongs to its neighbours in the grid, too.",
		"It does not say that the edge is real: neighbours trade alike, so luck makes plateaus as well."},
	FigureImportance: {"importance", []string{"Explained"},
		"Kelley 1935, An Unbiased Correlation Ratio Measure: ε², the first-order part of a variance",
		"So large a part of the objective's variance over the sets follows from this parameter alone.",
		"It does not say which value is good; parameters that act together share the rest."},
	FigureBlock: {"block length", []string{"BlockLength", "MedianBlock", "LongRunVariance", "Bootstrap.Draw"},
		"Politis & White 2004, Automatic Block-Length Selection; Patton, Politis & White 2009",
		"The days that resampling keeps together, on average, because returns depend on those before.",
		"It does not say that longer links, such as a change of the market over years, are kept."},
	FigureTries: {"tries", []string{"TrialsOf", "AdaptiveTrials", "Spread.Add", "Spread.Trials",
		"Trials.Benchmark"},
		"Bailey & López de Prado 2014, The Deflated Sharpe Ratio",
		"The number of sets whose daily returns differ: sets that traded alike are one try.",
		"Tries that were made elsewhere and not recorded are missing from it."},
	FigureEfficiency: {"efficiency", []string{"WalkOf", "WindowsOf"},
		"Pardo 2008, The Evaluation and Optimization of Trading Strategies",
		"The growth of the stitched days divided by that of the winners in training, and the spread of the windows.",
		"It is no grade: few windows leave it a wide spread, and without growth in sample it has no value."},
	FigureShare: {"windows with profit", []string{"WalkOf", "WindowsOf"},
		"Pardo 2008, The Evaluation and Optimization of Trading Strategies",
		"So large a share of the windows ended out of sample with more than they began with.",
		"It does not say how much they gained or lost; in a rising market worthless sets have such windows, too."},
	FigureDifference: {"p of a difference", []string{"PairedDifference"},
		"Politis & Romano 1994, The Stationary Bootstrap",
		"So large a share of pairs of equally good runs differ at least as much, in either direction, by luck.",
		"It does not say which run will do better, and it holds only if neither was chosen for its result."},
	FigureEvidence: {"evidence against a promise", []string{"Evidence.Total", "Evidence.Values", "PromiseOfReturns",
		"PromiseOfDrawdown", "PromiseOfTrips"},
		"Ville 1939; Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by betting",
		"What a bet against the promise has made of one unit of money; while the promise holds it seldom grows far.",
		"A small value does not say that the promise holds: a worse mean shows late. The day of a break is a guess."},
	FigureNotice: {"days until it is noticed", []string{"NoticeDays"},
		"Shannon 1948; Kelly 1956, A New Interpretation of Information Rate",
		"About so many days of looks pass until a mean that has fallen by so much is called broken.",
		"It is no bound: half of such falls are noticed later, some much later."},
}
