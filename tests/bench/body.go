//go:build linux

package main

import "fmt"

// chatBody returns a chat request of exactly size bytes, with the model first, as the SDKs write
// it.
func chatBody(model string, stream bool, size int, prompt promptKind) ([]byte, error) {
	head := fmt.Sprintf(`{"model":"%s","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"`, model)
	tail := `"}],"temperature":0.7}`
	if stream {
		tail = `"}],"temperature":0.7,"stream":true}`
	}
	return enclose(head, tail, size, prompt)
}

// responsesBody is chatBody for /v1/responses.
func responsesBody(model string, stream bool, size int, prompt promptKind) ([]byte, error) {
	tail := `"}`
	if stream {
		tail = `","stream":true}`
	}
	return enclose(fmt.Sprintf(`{"model":"%s","input":"`, model), tail, size, prompt)
}

// messagesBody is chatBody for /v1/messages.
func messagesBody(model string, stream bool, size int, prompt promptKind) ([]byte, error) {
	tail := `"}]}`
	if stream {
		tail = `"}],"stream":true}`
	}
	return enclose(fmt.Sprintf(`{"model":"%s","max_tokens":1024,"messages":[{"role":"user","content":"`, model), tail, size, prompt)
}

func enclose(head, tail string, size int, prompt promptKind) ([]byte, error) {
	n := size - len(head) - len(tail)
	if n < 0 {
		return nil, fmt.Errorf("a body of %d bytes is too small", size)
	}
	out := append(make([]byte, 0, size), head...)
	out = append(out, prompt.text(n)...)
	return append(out, tail...), nil
}
