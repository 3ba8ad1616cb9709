package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func TestChoicesOfCompletionsAreThoseOfAllPrompts(t *testing.T) {
	for body, want := range map[string][2]int64{
		`"prompt":"a"`:                             {1, 16},
		`"prompt":[1,2,3],"max_tokens":5`:          {1, 5},
		`"prompt":"a","max_tokens":0,"echo":true`:  {1, 1},
		`"prompt":[[1,2],[3]],"n":2`:               {4, 16},
		`"prompt":["a","b"],"n":2,"best_of":5`:     {10, 16},
		`"prompt":[],"best_of":1,"max_tokens":100`: {1, 100},
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(`{"model":"m",` + body + `}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := params.ParseCompletions(&b); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if l, err := params.CompletionsLimits(&b); err != nil || l.Choices != want[0] || l.Output != want[1] {
			t.Errorf("%s: %+v %v", body, l, err)
		}
	}
	for _, body := range []string{`"n":0`, `"best_of":-1`, `"n":128,"best_of":1000`, `"max_tokens":"many"`, `"max_tokens":-1`} {
		var b jsonscan.Body
		if err := b.Parse([]byte(`{"model":"m","prompt":"a",` + body + `}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := params.CompletionsLimits(&b); err == nil {
			t.Errorf("%s was accepted", body)
		}
	}
}
