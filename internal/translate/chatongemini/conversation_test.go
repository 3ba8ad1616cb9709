package chatongemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/geminirules"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

// Google takes any conversation whose calls have results, with whatever signatures it returns, and
// what is sent instead after a refusal. A signature is sent once, with its own call.
func FuzzConversation(f *testing.F) {
	f.Add([]byte("uacuac"), byte(0))
	f.Add([]byte("cudd\xfdD"), byte(0))
	f.Add([]byte("cdD"), byte(2))
	f.Add([]byte("sucxabsucdiuCdu"), byte(1))
	f.Add([]byte("uiaicDuiaiu"), byte(2))
	f.Fuzz(func(t *testing.T, steps []byte, which byte) {
		model := []string{plainModel, "gemini-2.5-flash", "gemini-3-pro-image"}[which%3]
		c := dialogue{}
		c.add(`{"role":"user","content":"hi"}`)
		for _, step := range steps[:min(len(steps), 32)] {
			c.step(step)
		}
		body, original, err := request(c.body(), chatongemini.Options{UpstreamModel: model})
		if err != nil {
			t.Fatalf("%v\n%s", err, c.body())
		}
		if err := geminirules.Check(model, body); err != nil {
			t.Fatalf("%v\n%s\nbecame\n%s", err, c.body(), body)
		}
		for id, signature := range c.signatures {
			if strings.Count(string(body), signature) != 1 || !signedBy(t, body, id, signature) {
				t.Fatalf("the signature of %s is not that of its call\n%s", id, body)
			}
		}
		again := original.Refusal(http.StatusBadRequest, nil, []byte(`{"error":{"message":"Corrupted thought signature."}}`)).Repeat
		if (again != nil) != (len(c.signatures) > 0) {
			t.Fatalf("%d signatures, and after a refusal %s", len(c.signatures), again)
		}
		if again == nil {
			return
		}
		if err := geminirules.Check(model, again); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		for _, signature := range c.signatures {
			if strings.Contains(string(again), signature) {
				t.Fatalf("a refused signature is sent again\n%s", again)
			}
		}
	})
}

// signedBy reports whether the call with a name has a signature.
func signedBy(t *testing.T, body []byte, name, signature string) bool {
	var r struct {
		Contents []struct {
			Parts []struct {
				FunctionCall     struct{ Name string }
				ThoughtSignature string
			}
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	for _, content := range r.Contents {
		for _, p := range content.Parts {
			if p.FunctionCall.Name == name {
				return p.ThoughtSignature == signature
			}
		}
	}
	return false
}

// dialogue is a chat that grows by steps.
type dialogue struct {
	messages   []string
	calls      int
	signatures map[string]string // those that return, by the names of their calls
}

func (c *dialogue) add(format string, args ...any) {
	c.messages = append(c.messages, fmt.Sprintf(format, args...))
}

func (c *dialogue) body() string {
	return `{"model":"m","messages":[` + strings.Join(c.messages, ",") + `]}`
}

func (c *dialogue) step(step byte) {
	switch step {
	case 'u':
		c.add(`{"role":"user","content":"more"}`)
	case 'i':
		c.add(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`)
	case 's':
		c.add(`{"role":"system","content":[{"type":"text","text":"be brief"}]}`)
	case 'a':
		c.add(`{"role":"assistant","content":"so"}`)
	case 'b':
		c.add(`{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,BBBB"}}]}`)
	default:
		c.callTools(step)
	}
}

// callTools adds calls and their results. The bits of the step say how many they are, which of them
// are signed, by which carrier, and whether results come in the order of the calls.
func (c *dialogue) callTools(step byte) {
	var calls, details, results []string
	for i := range 1 + int(step)%3 {
		c.calls++
		name := fmt.Sprintf("f%d", c.calls)
		extra := ""
		if signature := fmt.Sprintf("c2ln%04d", c.calls); step>>(2+i)&1 == 1 {
			if c.signatures == nil {
				c.signatures = map[string]string{}
			}
			c.signatures[name] = signature
			if step>>5&1 == 1 {
				extra = fmt.Sprintf(`,"extra_content":{"google":{"thought_signature":%q}}`, signature)
			}
			if step>>5&1 == 0 || step>>6&1 == 1 {
				details = append(details, fmt.Sprintf(`{"type":"reasoning.encrypted","format":"google-gemini-v1","id":"i%s","data":%q}`, name, signature))
			}
		}
		details = append(details, `{"type":"reasoning.encrypted","format":"anthropic-claude-v1","id":"i`+name+`","data":"other"}`)
		calls = append(calls, fmt.Sprintf(`{"id":"i%s","type":"function","function":{"name":%q,"arguments":"{}"}%s}`, name, name, extra))
		result := fmt.Sprintf(`{"role":"tool","tool_call_id":"i%s","content":"{\"$ref\":\"x\"}"}`, name)
		if results = append(results, result); step>>7&1 == 1 {
			results = append([]string{result}, results[:len(results)-1]...)
		}
	}
	c.add(`{"role":"assistant","content":null,"tool_calls":[%s],"reasoning_details":[%s]}`, strings.Join(calls, ","), strings.Join(details, ","))
	c.messages = append(c.messages, results...)
}
