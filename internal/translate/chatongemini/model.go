package chatongemini

import (
	"regexp"
	"strconv"
	"strings"
)

// model is what a model takes. A model whose name says nothing takes what the newest ones do.
type model struct {
	major   int      // 0: not one of the Gemini models
	thinks  bool     // it has thoughts that the request can bound
	levels  []string // of thinkingLevel, in ascending order; nil: it has budgets
	budget  struct{ least, most int64 }
	canStop bool // thoughts can be switched off by a budget of 0
	paints  bool // it answers with images, and wants what it said back signed
}

// ModelsDate is when the table was compared with Google's pages on thinking.
const ModelsDate = "2026-11-23"

var (
	lowHigh     = []string{"low", "high"}
	minimalHigh = []string{"minimal", "high"}
	fromLow     = []string{"low", "medium", "high"}
	fromMinimal = []string{"minimal", "low", "medium", "high"}
)

// levels has the thinking levels by what a model's name begins with, longer names first. Others
// have fromLow.
var levels = []struct {
	name   string
	levels []string
}{
	{"3.1-flash-lite-image", minimalHigh},
	{"3.1-flash-lite", fromMinimal},
	{"3-pro", lowHigh},
	{"3-flash", fromMinimal},
	{"3.5-flash", fromMinimal},
	{"3.6-flash", fromMinimal},
}

// budgets are those of the models that have no levels, in tokens.
var budgets = []struct {
	name        string
	least, most int64
	canStop     bool
}{
	{"2.5-flash-lite", 512, 24_576, true},
	{"2.5-flash", 1, 24_576, true},
	{"2.5-pro", 128, 32_768, false},
}

// thoughtless are the models among those with thoughts that have none: a request that mentions them
// is refused. From Gemini 3 on the models for images think.
var thoughtless = regexp.MustCompile(`-(tts|native-audio)|^2\.5-.*-image`)

var geminiName = regexp.MustCompile(`^(?:models/)?gemini-(\d+)(?:\.\d+)?`)

func modelOf(name string) model {
	m := model{major: 3, thinks: true, levels: fromLow}
	found := geminiName.FindStringSubmatch(name)
	if found == nil {
		if strings.HasPrefix(name, "gemma") || strings.HasPrefix(name, "learnlm") {
			return model{}
		}
		return m // a tuned model, or an alias of the provider's
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(name, "models/"), "gemini-")
	if m.major, _ = strconv.Atoi(found[1]); m.major >= 3 {
		m.thinks, m.paints = !thoughtless.MatchString(rest), strings.Contains(rest, "-image")
		for _, l := range levels {
			if strings.HasPrefix(rest, l.name) {
				m.levels = l.levels
				break
			}
		}
		return m
	}
	m.levels, m.thinks = nil, false
	for _, b := range budgets {
		if strings.HasPrefix(rest, b.name) && !thoughtless.MatchString(rest) {
			m.thinks, m.canStop = true, b.canStop
			m.budget.least, m.budget.most = b.least, b.most
			break
		}
	}
	return m
}

// signs reports whether the model refuses calls that return without a signature. Such a model also
// takes the ids of calls, which older ones refuse.
func (m *model) signs() bool { return m.major >= 3 }
