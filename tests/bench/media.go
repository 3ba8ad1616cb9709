//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// The calls besides chat: embeddings, and a form with a sound.

const (
	embeddingsPath  = "/v1/embeddings"
	transcriptsPath = "/v1/audio/transcriptions"

	formType = "multipart/form-data; boundary=bench"
	// dimensions are those of a usual model for embeddings.
	dimensions = 1536
)

// mediaCases are compared with the plain proxy, without a goal of the project.
func mediaCases(small, large benchCase) []benchCase {
	small.name, small.path, small.goal = "embeddings", embeddingsPath, goal{}
	large.name, large.path, large.goal, large.check = "form-1m", transcriptsPath, goal{}, checkTranscript
	return []benchCase{small, large}
}

func embeddingsBody(model string, _ bool, size int, prompt promptKind) ([]byte, error) {
	return enclose(fmt.Sprintf(`{"model":"%s","input":["`, model), `"]}`, size, prompt)
}

// formBody is a form with an mp3 file of exactly size bytes in all.
func formBody(model string, _ bool, size int, _ promptKind) ([]byte, error) {
	const tail = "\r\n--bench--"
	head := "--bench\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + model + "\r\n--bench\r\n" +
		"Content-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\n"
	n := size - len(head) - len(tail)
	if n < 0 {
		return nil, fmt.Errorf("a form of %d bytes is too small", size)
	}
	frame := append([]byte{0xFF, 0xF3, 0x84, 0xC4}, make([]byte, 188)...) // 24 ms at 64 kbit/s
	return append(append([]byte(head), bytes.Repeat(frame, n/len(frame)+1)[:n]...), tail...), nil
}

// modelOfForm finds the model where formBody puts it, "" in another body.
func modelOfForm(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte("name=\"model\"\r\n\r\n"))
	name, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return string(name)
}

func embeddingsAnswer() template {
	numbers := strings.TrimSuffix(strings.Repeat("-0.012345678,", dimensions), ",")
	return newTemplate(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[`+numbers+`]}],"model":"bench",`+
		`"usage":{"prompt_tokens":`+slotTokens+`,"total_tokens":`+slotTokens+`}}`, slotTokens)
}

func transcriptAnswer() template {
	return newTemplate(`{"text":"`+words(answerWords)+`","usage":{"type":"tokens","input_tokens":`+slotTokens+
		`,"input_token_details":{"text_tokens":0,"audio_tokens":250},"output_tokens":150,"total_tokens":400}}`, slotTokens)
}

// checkTranscript is checkWhole for a transcript, which names no model.
func checkTranscript(a answer, sent int, _ string) error {
	if err := checkHead(a, http.StatusOK, "application/json"); err != nil {
		return err
	}
	return checkUsage(a.body, `"input_tokens":`, sent)
}
