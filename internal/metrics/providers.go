package metrics

// Outcome is how a request to a provider ended, in the words of an operator. It says whose fault a
// failure is.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"           // it answered; the gateway may have refused the answer
	RateLimited Outcome = "rate_limited" // 429
	Auth        Outcome = "auth"         // it refused our credential, or our quota there is used up
	BadRequest  Outcome = "bad_request"  // it refused the request: another 4xx
	ServerError Outcome = "server_error" // 5xx, a broken answer, or one that makes no sense
	Timeout     Outcome = "timeout"      // it took too long for something
	Connection  Outcome = "connection"   // it could not be reached, or left before it answered
	Canceled    Outcome = "canceled"     // the client left, or the gateway stopped
)

// Attempt is one ended request to a provider.
type Attempt struct {
	Provider string
	Code     string // the machine code; "" for success
	Outcome  Outcome
}
