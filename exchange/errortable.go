package exchange

// errorRow is one code of the exchange.
type errorRow struct {
	Error           // its message is whole by itself
	detailed string // a wording with details, where there is one
}

// errorTable holds every code of specification 7 and venue-facts 2, by code. Wordings recorded from
// the exchange are verbatim; the others are ours. Code 431 came with 503 for all market data and
// comes with 409 for an order book: the table has the specification's 503.
var errorTable = []errorRow{
	{Error{101, 500, "Unknown error. The operation may or may not have succeeded."}, ""},
	{Error{102, 400, "The request body is not valid JSON."}, "The request body is not accepted: %s."},
	{Error{103, 400, "Rate limited. See the header that says when the next request is allowed."}, ""},
	{Error{104, 400, "Too many new orders in a second or in a day."}, ""},
	{Error{105, 429, "Your IP or API key has been banned for not respecting the rate limit."},
		"Your IP or API key has been banned for not respecting the rate limit. The ban expires at %d."},
	{Error{107, 503, "The matching engine is overloaded. Retry after 500 ms."}, ""},
	{Error{108, 503, "The request could not be processed in time. Widen the access window or retry after 500 ms."}, ""},
	{Error{109, 503, "The request timed out. The operation may or may not have succeeded."}, ""},
	{Error{110, 404, "Invalid endpoint. Please check url and HTTP method."}, ""}, // legacy; its status was not recorded
	{Error{111, 503, "The matching engine is unavailable."}, ""},
	{Error{112, 429, "Too many WebSocket requests in a second."}, ""},

	{Error{200, 400, "A url parameter is not accepted here. Parameters are case-sensitive."},
		"%s url parameter is not accepted here. Parameters are case-sensitive."},
	{Error{201, 400, "A body parameter is not accepted here. Parameters are case-sensitive."},
		"%s body parameter is not accepted here. Parameters are case-sensitive."},
	{Error{202, 400, "A parameter is not supported for this orderType."},
		"%s parameter is not supported for this orderType."},
	{Error{203, 400, "A required parameter is missing."}, "%s parameter is required."},
	{Error{204, 400, "A parameter is not supported."}, "%s parameter is not supported."},
	{Error{205, 400, "A parameter is invalid."}, "%s parameter is invalid."},
	{Error{206, 400, "Two parameters exclude each other."}, "Use either %s or %s."},
	{Error{210, 400, "The amount is above the largest that is allowed, 1000000000."}, ""},
	{Error{211, 400, "The price is above the largest that is allowed, 100000000000."}, ""},
	{Error{212, 400, "The amount is below the market's minimum in base currency."},
		"Minimum order size in base currency is %s."},
	{Error{213, 400, "The price is below the smallest that is allowed, 0.000000000000001."}, ""},
	{Error{214, 400, "The price has too many significant digits."}, ""}, // legacy: 422 since markets have a tickSize
	{Error{215, 400, "The price has more than 15 decimals."}, ""},
	{Error{216, 400, "You do not have sufficient balance to complete this operation."}, ""},
	{Error{217, 400, "The order is worth less than the market's minimum in quote currency."},
		"Minimum order size in quote currency is %s or %s."},
	{Error{218, 400, "The triggerAmount has too many significant digits."}, ""}, // legacy, as 214
	{Error{219, 400, "The market is no longer listed."}, ""},
	{Error{220, 400, "The clientOrderId is in use by another open order of this market."}, ""},
	{Error{230, 400, "The matching engine rejected the order."}, ""},
	{Error{231, 400, "timeInForce must be GTC while the market is not trading continuously."}, ""},
	{Error{232, 400, "You must change at least one of amount, amountRemaining, price, timeInForce, " +
		"selfTradePrevention or postOnly."}, ""},
	// legacy: now 240
	{Error{233, 400, "Order must be active (status new or partiallyFilled) to allow updating/cancelling."}, ""},
	{Error{234, 400, "A market order cannot be updated."}, ""},
	{Error{235, 400, "The market's limit of open orders is reached."},
		"The limit of %d open orders in this market is reached."},
	{Error{236, 400, "Use only one of amount, amountRemaining and amountQuote."}, ""},
	{Error{237, 400, "A parameter that a stopLoss or takeProfit order requires is missing."},
		"%s parameter is required for orderType %s."},
	{Error{238, 400, "A parameter that a stopLossLimit or takeProfitLimit order requires is missing."},
		"%s parameter is required for orderType %s."},
	{Error{239, 400, "An update cannot switch between amount and amountQuote."}, ""},
	{Error{240, 404, "No order found. Please be aware that simultaneously updating the same order may return this " +
		"error."}, ""},

	{Error{300, 403, "Authentication headers are required for this endpoint."}, ""},
	{Error{301, 403, "API Key must be of length 64."}, ""},
	{Error{302, 403, "The timestamp must be in Unix milliseconds."}, ""},
	{Error{303, 403, "The access window must lie between 100 and 60000 ms."}, ""},
	{Error{304, 403, "Request was not received within acceptable window."},
		"Request was not received within acceptable window of %d ms."},
	{Error{305, 403, "No active API key found."}, ""},
	{Error{306, 403, "The API key has not been confirmed by e-mail."}, ""},
	{Error{307, 403, "This IP is not on the API key's list."}, ""},
	{Error{308, 403, "The signature length is invalid (HMAC-SHA256 should return a 64 length hexadecimal string)."},
		""},
	{Error{309, 403, "The signature is invalid."}, ""},
	{Error{310, 403, "The API key has no right to trade."}, ""},
	{Error{311, 403, "The API key has no right to read account information."}, ""},
	{Error{312, 403, "The API key has no right to withdraw."}, ""},
	{Error{313, 403, "The session is not valid."}, ""},
	{Error{314, 403, "This request is not allowed by REST."}, ""},      // legacy
	{Error{315, 403, "This request is not allowed by WebSocket."}, ""}, // legacy
	{Error{316, 403, "Only public information of assets is available by this WebSocket."}, ""},
	{Error{317, 403, "The account is locked."}, ""},
	{Error{318, 403, "The account needs verification for this."}, ""},
	{Error{319, 403, "This is not available in the account's region."}, ""},
	{Error{320, 403, "This is forbidden."}, ""},
	{Error{322, 403, "Not authorised."}, ""},

	{Error{400, 500, "Unknown error."}, ""},
	{Error{401, 400, "Deposits of this asset are not available."}, ""},
	{Error{402, 400, "The account's identity is not verified."}, ""},
	{Error{403, 400, "The account's phone number is not verified."}, ""},
	{Error{404, 400, "The node of this asset cannot be reached."}, ""},
	{Error{405, 400, "Withdrawals wait for the cool-down after a new bank account."}, ""},
	{Error{406, 400, "Your withdrawal is too small."}, ""},
	{Error{407, 400, "An internal transfer is not possible."}, ""},
	{Error{408, 400, "The balance is too low for this withdrawal."}, ""},
	{Error{409, 400, "This is not a verified bank account."}, ""},
	{Error{410, 400, "Withdrawals of this asset are not available."}, ""},
	{Error{411, 400, "A transfer to oneself is not possible."}, ""},
	{Error{412, 400, "The address is invalid."}, "%s_address_invalid."},
	{Error{413, 400, "The address is not on the list of allowed addresses."}, ""},
	{Error{414, 400, "Withdrawals wait for two minutes after a login."}, ""},
	{Error{415, 404, "Invalid action. Please check the request."}, ""},
	{Error{419, 503, "The server is unavailable."}, ""},
	{Error{422, 400, "The price is not a multiple of the market's tickSize."},
		"%s is not a multiple of the market's tickSize."},
	{Error{423, 400, "The market is halted: orders cannot be created, updated or cancelled."}, ""},
	{Error{424, 400, "The market is cancelOnly: orders can only be cancelled."}, ""},
	{Error{425, 400, "The market is in auction: this order is not accepted."}, ""},
	{Error{426, 400, "The market is in auctionMatching: orders cannot be created or updated."}, ""},
	{Error{429, 400, "A parameter has too many decimals."}, "%s parameter has too many decimals."},
	{Error{430, 503, "The connection timed out: there were no new market data events."}, ""},
	{Error{431, 503, "The market is not in status trading: its data cannot be retrieved."}, ""},
	{Error{434, 400, "A risk limit stops this withdrawal."}, ""}, // 434 … 438 differ in a detail that is not public
	{Error{435, 400, "A risk limit stops this withdrawal."}, ""},
	{Error{436, 400, "A risk limit stops this withdrawal."}, ""},
	{Error{437, 400, "A risk limit stops this withdrawal."}, ""},
	{Error{438, 400, "A risk limit stops this withdrawal."}, ""},
	{Error{439, 400, "A parameter is invalid."}, ""},
	{Error{510, 400, "A parameter is invalid."}, ""},
	{Error{511, 403, "Not authorised."}, ""},
	{Error{512, 403, "Not authorised."}, ""},
	{Error{513, 403, "Not authorised."}, ""},
	{Error{514, 404, "Not found."}, ""},
}
