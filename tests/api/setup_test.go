package api

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// refusingTools are providers of which chatonly refuses tools that chat completions cannot have.
var refusingTools = strings.Replace(harness.DefaultProviders, "responses translate", "responses translate {\nunknown_tools refuse\n}", 1)
