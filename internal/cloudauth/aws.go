package cloudauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// AWS says how requests to AWS are authorized.
type AWS struct {
	Region  string // of the host; "" = AWS_REGION
	Service string // that requests are signed for; "" = bedrock

	// BearerToken is an API key of Bedrock. Nothing is signed then.
	BearerToken func() string
	// AccessKey, SecretKey and SessionToken are keys that do not change. SessionToken may be nil.
	AccessKey               string
	SecretKey, SessionToken func() string
	// Profile is one of the shared configuration files. Without any of these the chain of AWS' SDKs is
	// asked: environment, profile, web identity, container and, with Instance, the metadata of an EC2
	// instance.
	Profile  string
	Instance bool
	// RoleARN is a role that the gateway takes on; "" = none.
	RoleARN string
}

const (
	awsEarly   = 5 * time.Minute
	awsService = "bedrock"
)

var (
	regionForm  = regexp.MustCompile(`^[a-z]{2,}(-[a-z0-9]+)*$`)
	serviceForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// NewAWS returns a credential of AWS. The context ends its work in the background.
func NewAWS(ctx context.Context, a AWS, now func() time.Time) (Credential, error) {
	if a.BearerToken != nil {
		if a.AccessKey+a.Profile+a.RoleARN != "" || a.Instance {
			return nil, errors.New("an API key of Bedrock signs nothing: leave out keys, profile, role and instance")
		}
		return &bearer{"aws", newStatic(now, func(context.Context) (token, time.Time, error) {
			value := a.BearerToken()
			return token{value: value}, time.Time{}, provider.ValidCredential(value)
		})}, nil
	}
	a.Region, a.Service = cmp.Or(a.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")), cmp.Or(a.Service, awsService)
	switch {
	case !regionForm.MatchString(a.Region):
		return nil, fmt.Errorf("region %q: write one such as us-east-1", a.Region)
	case !serviceForm.MatchString(a.Service):
		return nil, fmt.Errorf("service %q: write one such as bedrock", a.Service)
	case a.AccessKey != "" && (a.Profile+a.RoleARN != "" || a.Instance):
		return nil, errors.New("access_key and profile, role or instance: give only one of them")
	case (a.AccessKey != "") != (a.SecretKey != nil):
		return nil, errors.New("access_key and secret_key: one needs the other")
	}
	keys := newStatic(now, a.static)
	if a.AccessKey == "" {
		keys = newCache(ctx, now, awsEarly, a.chain(now))
	}
	return &signer{keys: keys, signer: v4.NewSigner(), region: a.Region, service: a.Service, now: now}, nil
}

func (a *AWS) static(context.Context) (aws.Credentials, time.Time, error) {
	keys := aws.Credentials{AccessKeyID: a.AccessKey, SecretAccessKey: a.SecretKey()}
	if a.SessionToken != nil {
		keys.SessionToken = a.SessionToken()
	}
	return keys, time.Time{}, nil
}

// readAgain is how long keys are used that do not expire: a profile can change.
const readAgain = time.Hour

// chain asks as AWS' SDKs do.
func (a *AWS) chain(now func() time.Time) fetch[aws.Credentials] {
	client := awshttp.NewBuildableClient().WithTimeout(fetchTimeout) // the only kind that takes AWS_CA_BUNDLE
	options := []func(*config.LoadOptions) error{config.WithRegion(a.Region), config.WithHTTPClient(client), config.WithRetryMaxAttempts(1)}
	if a.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(a.Profile))
	}
	if !a.Instance {
		options = append(options, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	return func(ctx context.Context) (keys aws.Credentials, expires time.Time, err error) {
		c, err := config.LoadDefaultConfig(ctx, options...)
		if err != nil || c.Credentials == nil {
			return keys, expires, errNoKeys
		}
		if a.RoleARN != "" {
			c.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(c), a.RoleARN)
		}
		if keys, err = c.Credentials.Retrieve(ctx); err != nil {
			return keys, expires, errNoKeys
		}
		if !keys.CanExpire {
			keys.Expires = now().Add(readAgain)
		}
		return keys, keys.Expires, nil
	}
}

// errNoKeys says less than the SDK does, whose errors repeat what it was answered.
var errNoKeys = errors.New("no source of AWS credentials has any that can be used: environment, profile, web identity, container, instance, role")

// signer signs requests by Signature Version 4.
type signer struct {
	keys            *cache[aws.Credentials]
	signer          *v4.Signer
	region, service string
	now             func() time.Time
}

// signedFields are those that no hop between the gateway and AWS changes.
var signedFields = []string{"Content-Type"}

// Sign implements [Credential].
func (s *signer) Sign(r *http.Request) error {
	keys, err := s.keys.get(r.Context())
	if err != nil {
		return err
	}
	hash, err := hashOf(r)
	if err != nil {
		return err
	}
	signed := &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: http.Header{}}
	for _, name := range signedFields {
		if values := r.Header[name]; values != nil {
			signed.Header[name] = values
		}
	}
	if err := s.signer.SignHTTP(r.Context(), keys, signed, hash, s.service, s.region, s.now()); err != nil {
		return errors.New("the request cannot be signed")
	}
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if values := signed.Header[name]; values != nil {
			r.Header[name] = values
		}
	}
	return nil
}

// hashOf returns the SHA-256 of the body of a request, which may have none.
func hashOf(r *http.Request) (string, error) {
	h := sha256.New()
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return "", err
		}
		if _, err := io.Copy(h, body); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Refused implements [Credential].
func (s *signer) Refused(int) bool { return s.keys.refused() }

// Secrets implements [Credential].
func (s *signer) Secrets() (secrets []string) {
	for _, keys := range s.keys.known() {
		secrets = append(secrets, keys.SecretAccessKey, keys.SessionToken)
	}
	return secrets
}

// Fetch implements [Credential].
func (s *signer) Fetch(ctx context.Context) error { return s.keys.renew(ctx) }

// Status implements [Credential].
func (s *signer) Status() Status {
	st := s.keys.status()
	st.Kind = "aws"
	return st
}
