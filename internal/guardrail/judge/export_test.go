package judge

import (
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// Whole redacts a whole text by the rules for output.
func Whole(set guardrail.Set, text string) string {
	edits, _ := set.(*Set).output.matcher().Whole(text, "", nil)
	return string(detect.Apply(nil, text, edits))
}
