package modelcall

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

const (
	// passedFrom is how much of an answer is read before it passes as it comes: an error, or an answer
	// with links, is shorter. It is not counted as memory of answers.
	passedFrom = freeAnswer
	// maxPassed is how many bytes of such an answer are read at once.
	maxPassed = 32 << 10
)

// beginning reads the beginning of an answer. It is nil if the answer ends there: it is to be read as any.
func beginning(resp *http.Response) []byte {
	if 0 <= resp.ContentLength && resp.ContentLength <= passedFrom {
		return nil
	}
	head := make([]byte, passedFrom)
	n, err := fill(resp.Body, head)
	if err == nil {
		return head
	}
	resp.Body = &ended{bytes.NewReader(head[:n]), err, resp.Body}
	return nil
}

// fill reads until the buffer is full or the body ends. Unlike [io.ReadFull] it returns the body's own
// error.
func fill(body io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = body.Read(buffer[n:])
		n += more
	}
	if n == len(buffer) {
		err = nil
	}
	return n, err
}

// ended is a body that was read to its end.
type ended struct {
	data *bytes.Reader
	err  error
	io.Closer
}

func (e *ended) Read(p []byte) (int, error) {
	if e.data.Len() > 0 {
		return e.data.Read(p)
	}
	return 0, e.err
}

// deliverPassed forwards a large answer as it comes, and reads what it says besides its long strings. The
// last piece waits until the call is recorded. An answer that breaks off breaks the client's connection,
// so that a part never looks whole.
func deliverPassed(ctx context.Context, a *attempt, rates shownLimits, s *wire.Sending, resp *http.Response, piece []byte) delivery {
	u := &a.upstream
	q := u.request
	u.trace.answered(piece)
	a.commit()
	h := q.Writer.Header()
	rates.set(h)
	nameLeftOut(h, q.Outcome.LeftOut)
	h["Content-Type"] = jsonContentType
	if resp.ContentLength >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(resp.ContentLength, 10)}
	}
	q.Writer.WriteHeader(http.StatusOK)
	var outline jsonscan.Outline
	outline.Add(piece)
	next := make([]byte, maxPassed)
	var gone error
	for {
		n, err := fill(resp.Body, next)
		outline.Add(next[:n])
		if err == nil {
			if gone == nil {
				gone = writePiece(a, piece)
			}
			if gone != nil && !u.drains() {
				return cutOff(a, request.ClientGone(gone))
			}
			piece, next = next, piece[:maxPassed]
			continue
		}
		if err != io.EOF {
			return cutOff(a, brokenAnswer(a.provider(), err))
		}
		_, summary, err := s.Answer.Whole(nil, outline.Text())
		a.summarize(summary)
		if left := u.leftWhileDraining(ctx); left != nil {
			return cutOff(a, left)
		}
		if err != nil {
			return cutOff(a, brokenAnswer(a.provider(), err))
		}
		a.succeed()
		q.Outcome.Succeed(http.StatusOK)
		_ = q.Write(append(piece, next[:n]...))
		return delivery{}
	}
}

// cutOff is the end of an answer of which the client has got a part.
func cutOff(a *attempt, failure *apierror.Error) delivery {
	a.upstream.request.Outcome.Fail(failure)
	return delivery{failure: failure, cut: true}
}

// writePiece writes a piece of an answer to the client.
func writePiece(a *attempt, piece []byte) error {
	q := a.upstream.request
	q.WatchWrite()
	_, err := q.Writer.Write(piece)
	q.Watch.Stop()
	return err
}
