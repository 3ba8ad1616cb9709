package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestAMemberIsEmptyWhoseValuesAllAre(t *testing.T) {
	for value, want := range map[string]bool{
		``: true, `null`: true, `false`: true, `0`: true, `""`: true, `[]`: true, `{}`: true,
		`{"data":"","id":"","expires_at":0,"transcript":null}`: true,
		`[{"a":[{}]}, {"b":""}]`:                               true,
		`true`:                                                 false, `1`: false, `"a"`: false, `[0,1]`: false,
		`{"data":"","id":"a"}`: false, `[{"a":["b"]}]`: false,
		strings.Repeat("[", 100) + strings.Repeat("]", 100): false, // it is not read so deep
	} {
		if got := openai.IsEmpty([]byte(value)); got != want {
			t.Errorf("%.80s: %v", value, got)
		}
	}
}
