// One user of k6: asks, compares the answer, pauses, and asks again. `k6` next to this file sets the variables.
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const plan = JSON.parse(open(__ENV.K6_PLAN));
const { closed_loop: users, open_loop: open_loop } = plan.arrivals;
const [request] = plan.requests;
const body = __ENV.K6_BODY ? open(__ENV.K6_BODY, 'b') : null;
const text = request.expected.answer.text;
// The shortest that k6 takes.
const duration = `${Math.max(1000, Math.round(1000 * __ENV.SECONDS))}ms`;
// A user who waits for an answer cannot send the next request, so a stall needs a user for each request in it.
const spare = open_loop ? Math.ceil(3 * open_loop.rate_per_s) : 0;
const answers = { ok: new Counter('ok'), wrong: new Counter('wrong'), failed: new Counter('failed') };

export const options = {
  scenarios: {
    load: open_loop
      ? { executor: 'constant-arrival-rate', rate: Math.round(open_loop.rate_per_s), duration, preAllocatedVUs: spare, maxVUs: spare, gracefulStop: '10s' }
      // Without gracefulStop, k6 would wait for all open requests after the end.
      : { executor: 'constant-vus', vus: users.users, duration, gracefulStop: '0s' },
  },
  summaryTrendStats: ['med', 'p(99)'],
  discardResponseBodies: text === undefined,
};
const params = { headers: Object.fromEntries(request.headers), timeout: '60s' };

export default function () {
  const answer = http.request(request.method, `http://${plan.target.host}${request.path}`, body, params);
  const right = answer.status === request.expected.status && (text === undefined || answer.body === text);
  answers[answer.error_code && !answer.status ? 'failed' : right ? 'ok' : 'wrong'].add(1);
  if (users && users.think_ms) sleep(users.think_ms / 1000);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify(data.metrics) };
}
