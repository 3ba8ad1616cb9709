package guardrail

import "github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"

// Whole redacts a whole text of a model.
func Whole(s *Set, text string) string {
	edits, _ := s.output.matcher().Whole(text, "", nil)
	return string(detect.Apply(nil, text, edits))
}
