//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// Texts that a guardrail must find, and the model whose answers contain them. Only a probe asks for it.
const (
	modelMasked = "bench-masked" // answers with an address and a card number, unless the request contains the address

	canaryAddress = "canary@bench.example"
	canaryCard    = "4242 4242 4242 4242" // a test number; its check digit is right

	// The texts that a guardrail puts in their place.
	maskedAddress, maskedCard = "[REDACTED:email]", "[REDACTED:card]"
)

// canarySecret returns a text that looks like a GitHub token but is none.
func canarySecret() string {
	const length = 36 // of the part after the prefix
	return "ghp_" + (rand.Text() + rand.Text())[:length]
}

// answerCanary serves that model, whole or as a stream whose events split the texts to
// find.
func (u *upstream) answerCanary(w http.ResponseWriter, head []byte) {
	said := []string{"write to " + canaryAddress[:9], canaryAddress[9:], " or pay " + canaryCard[:7], canaryCard[7:] + " now"}
	if bytes.Contains(head, []byte(canaryAddress)) {
		http.Error(w, "the address has arrived", http.StatusBadRequest)
		return
	}
	if bytes.Contains(head, []byte(`"stream":true`)) {
		u.writeStream(w, bytes.Join(encoded(replyOf(said...).ChatStream(true)), nil))
		return
	}
	answer := answers.Encode(replyOf(said...).ChatResult())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
}
