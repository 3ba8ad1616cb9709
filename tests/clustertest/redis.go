//go:build unix

package clustertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Redis sends one command to a Redis or Valkey server and returns its answer; lists are joined by
// lines.
func Redis(addr string, words ...string) (string, error) {
	const timeout = 2 * time.Second
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(conn, text.String()); err != nil {
		return "", err
	}
	return redisAnswer(bufio.NewReader(conn))
}

func redisAnswer(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", fmt.Errorf("an empty line")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", fmt.Errorf("the engine says %s", rest)
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 {
		return "", err
	}
	if kind == '$' {
		body := make([]byte, n+len("\r\n"))
		_, err := io.ReadFull(r, body)
		return string(body[:n]), err
	}
	var all []string
	for range n {
		one, err := redisAnswer(r)
		if err != nil {
			return "", err
		}
		all = append(all, one)
	}
	return strings.Join(all, "\n"), nil
}
