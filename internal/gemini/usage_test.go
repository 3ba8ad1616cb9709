package gemini_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
)

// Absurd counts are no usage: they would become a bill or, if a sum overflows, a negative one.
func TestAbsurdUsageIsNone(t *testing.T) {
	const huge = "9223372036854775807"
	for _, text := range []string{
		`{"promptTokenCount":` + huge + `}`,
		`{"promptTokenCount":` + huge + `,"toolUsePromptTokenCount":1}`,
		`{"promptTokenCount":1,"candidatesTokenCount":` + huge + `,"thoughtsTokenCount":1}`,
		`{"promptTokenCount":` + huge + `,"toolUsePromptTokenCount":` + huge + `,"candidatesTokenCount":3}`,
		`{"promptTokenCount":-1}`, `{"candidatesTokenCount":1}`,
	} {
		if u, ok := gemini.ParseUsage([]byte(text)); ok {
			t.Errorf("%s: %+v", text, u)
		}
	}
	u, ok := gemini.ParseUsage([]byte(`{"promptTokenCount":5,"toolUsePromptTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4,"totalTokenCount":14,"promptTokenCount":5}`))
	if !ok || u.Prompt != 7 || u.Completion != 7 || u.Reasoning != 4 || u.Total != 14 {
		t.Errorf("%v %+v", ok, u)
	}
}
