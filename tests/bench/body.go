//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// vocabulary makes prose of ordinary word lengths; its text is of no meaning.
var vocabulary = strings.Fields(`the gateway reads each request once and sends it on with a new name while
the upstream answers in its own time so that a person who waits sees words appear one after another and
nobody has to ask twice which of them was first or who paid for it in the end`)

// quoteEvery is the distance of the escaped quotes in a hard prompt: the worst a
// scanner that looks for the end of a string meets in source code or nested JSON.
const quoteEvery = 35

// words returns n words of prose without anything that JSON escapes.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[i%len(vocabulary)])
	}
	return b.String()
}

// prompt returns exactly n bytes of encoded JSON string content, plain prose or,
// if hard, prose with an escaped quote every quoteEvery bytes.
func prompt(n int, hard bool) []byte {
	prose := []byte(words(len(vocabulary)) + " ")
	out := bytes.Repeat(prose, n/len(prose)+1)[:n]
	if hard {
		for i := quoteEvery - 2; i+1 < n; i += quoteEvery {
			out[i], out[i+1] = '\\', '"'
		}
	}
	return out
}

// chatBody returns a chat request of exactly size bytes, with the model first, as
// the SDKs write it.
func chatBody(model string, stream bool, size int, hard bool) ([]byte, error) {
	head := fmt.Sprintf(`{"model":"%s","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"`, model)
	tail := `"}],"temperature":0.7}`
	if stream {
		tail = `"}],"temperature":0.7,"stream":true}`
	}
	return enclose(head, tail, size, hard)
}

// responsesBody is chatBody for /v1/responses.
func responsesBody(model string, stream bool, size int, hard bool) ([]byte, error) {
	tail := `"}`
	if stream {
		tail = `","stream":true}`
	}
	return enclose(fmt.Sprintf(`{"model":"%s","input":"`, model), tail, size, hard)
}

func enclose(head, tail string, size int, hard bool) ([]byte, error) {
	n := size - len(head) - len(tail)
	if n < 0 {
		return nil, fmt.Errorf("a body of %d bytes is too small", size)
	}
	out := append(make([]byte, 0, size), head...)
	out = append(out, prompt(n, hard)...)
	return append(out, tail...), nil
}
