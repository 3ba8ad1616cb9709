//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	pieces := []string{"write to " + canaryAddress[:9], canaryAddress[9:], " or pay " + canaryCard[:7], canaryCard[7:] + " now"}
	if bytes.Contains(head, []byte(canaryAddress)) {
		http.Error(w, "the address has arrived", http.StatusBadRequest)
		return
	}
	if bytes.Contains(head, []byte(`"stream":true`)) {
		u.writeStream(w, append(bytes.Join(chatEventsOf(pieces), nil), chatEnd(true)...))
		return
	}
	answer := fmt.Appendf(nil, `{"id":"%s","object":"chat.completion","created":1795000000,"model":"bench","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":250,"completion_tokens":%d,"total_tokens":%d}}`,
		answerID, strings.Join(pieces, ""), answerTokens, 250+answerTokens)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer)
}

// chatEventsOf returns the events of a chat stream with that text, up to the one with
// finish_reason.
func chatEventsOf(pieces []string) [][]byte {
	event := func(delta, finish string) []byte {
		return fmt.Appendf(nil, "data: {\"id\":\"%s\",\"object\":\"chat.completion.chunk\",\"created\":1795000000,\"model\":\"bench\","+
			"\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}],\"usage\":null}\n\n", answerID, delta, finish)
	}
	events := [][]byte{event(`{"role":"assistant","content":""}`, "null")}
	for _, piece := range pieces {
		events = append(events, event(`{"content":"`+piece+`"}`, "null"))
	}
	return append(events, event("{}", `"stop"`))
}
