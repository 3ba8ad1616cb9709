//go:build linux

package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestCanariesAreWhatGuardrailsLookFor(t *testing.T) {
	secret := regexp.MustCompile(`^ghp_[A-Z0-9]{36}$`)
	if s := canarySecret(); !secret.MatchString(s) || s == canarySecret() {
		t.Errorf("the credential is %q", s)
	}
	sum, digits := 0, strings.ReplaceAll(canaryCard, " ", "")
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	if sum%10 != 0 {
		t.Errorf("the check digit of %s is wrong", canaryCard)
	}
}

func TestUpstreamSendsCanariesUnlessTheRequestHasThem(t *testing.T) {
	c := testConn(t, startTestUpstream(t))
	ask := func(model, members string) answer {
		t.Helper()
		a, err := c.do(t.Context(), encode("h", chatPath, "k", chatWith(model, members)))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := ask(modelMasked, saying("hello")); a.status != 200 || !strings.Contains(string(a.body), canaryAddress) || !strings.Contains(string(a.body), canaryCard) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(modelMasked, saying("I am "+canaryAddress)); a.status != http.StatusBadRequest {
		t.Errorf("an address that has come through gets %d", a.status)
	}
	if a := ask(modelLeak, saying("hello")); a.status != 200 || !strings.Contains(string(a.body), "ghp_") {
		t.Errorf("%d %s", a.status, a.body)
	}
	for model, text := range map[string]string{modelMasked: canaryAddress + " or pay " + canaryCard, modelLeak: "it is ghp_[A-Z0-9]{36} so"} {
		whole := regexp.MustCompile(text)
		a := ask(model, saying("hello")+`,"stream":true`)
		checkDataLines(t, string(a.body))
		if got := textOf(a.body, `"content":"`); a.status != 200 || !whole.MatchString(got) {
			t.Errorf("%s: %d, the stream says %q", model, a.status, got)
		}
		if whole.Match(a.body) {
			t.Errorf("%s: one event has all of it", model)
		}
	}
}
